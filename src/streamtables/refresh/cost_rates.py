"""What work takes on the reference machine: 2 cores, local Spark, tables on a local disk.

`python -m benchmarks.cost_rates` measures them.  Another machine is learned by what its first
refreshes take against these.
"""

from __future__ import annotations

from collections.abc import Mapping

from streamtables.refresh.cost_model import Rates, Way

RATES: Mapping[Way, Rates] = {
    "full": Rates(0.46, 0.05, 0.0, 1.4e-7, 2.2e-7),
    "changes": Rates(0.0, 0.041, 1.6e-6, 4.2e-7, 0.0, 0.025, 0.0, 0.33),
    "merge": Rates(0.35, 0.053, 8.5e-6, 2.1e-7, 0.0, 0.0, 0.0, 0.14),
    "whole": Rates(0.0, 0.15, 0.0, 1.1e-7, 1e-7),
}
