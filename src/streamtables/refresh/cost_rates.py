"""What work takes on the reference machine: 2 cores, local Spark, tables on a local disk.

`python -m benchmarks.cost_rates` measures them.  Another machine is learned by what its first
refreshes take against these.
"""

from __future__ import annotations

from collections.abc import Mapping

from streamtables.refresh.cost_model import Rates, Way

RATES: Mapping[Way, Rates] = {
    "changes": Rates(0.10, 0.12, 4e-5, 1.5e-7, 1.2e-7),
    "whole": Rates(0.25, 0.15, 0.0, 4e-7, 3e-6),
    "full": Rates(0.55, 0.05, 0.0, 4e-7, 8e-7),
    "merge": Rates(1.2, 0.25, 3e-6, 3e-7, 1e-6),
}
