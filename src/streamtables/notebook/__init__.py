"""Stream tables in a notebook: `%load_ext streamtables.notebook`.

cells.py      the cell magic `%%stream_table`
displays.py   refreshes, proofs, plans, graphs and warehouses as HTML
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell


def load_ipython_extension(shell: InteractiveShell) -> None:
    """Have the notebook know the cell magic and how to show what this package returns."""
    from streamtables.notebook.cells import StreamTableMagics
    from streamtables.notebook.displays import register

    shell.register_magics(StreamTableMagics)
    register(shell)
