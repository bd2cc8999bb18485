"""How a stored result is kept up to date: its layout, and the programs that refresh it."""

from streamtables.compiler.maintenance.first_rows import PLACE, FirstRows
from streamtables.compiler.maintenance.float_sums import FLOAT_TOLERANCE
from streamtables.compiler.maintenance.forms import (
    LOST,
    STATE,
    STORED,
    ChangedTables,
    Form,
    Maintenance,
)
from streamtables.compiler.maintenance.layout import ORDINALS, ROWS, Layout
from streamtables.compiler.maintenance.limits import Limits
from streamtables.compiler.maintenance.state_shape import StateColumn, StateShape, VisibleState
from streamtables.compiler.maintenance.stored_state import StoredState

__all__ = [
    "FLOAT_TOLERANCE",
    "LOST",
    "ORDINALS",
    "PLACE",
    "ROWS",
    "STATE",
    "STORED",
    "ChangedTables",
    "FirstRows",
    "Form",
    "Layout",
    "Limits",
    "Maintenance",
    "StateColumn",
    "StateShape",
    "StoredState",
    "VisibleState",
]
