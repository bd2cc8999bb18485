"""What exists and where it stands: definitions, positions and refresh records."""

from streamtables.catalog.database import default_location
from streamtables.catalog.definitions import CatalogSnapshot, Definitions
from streamtables.catalog.models import (
    Column,
    Input,
    RefreshRecord,
    Source,
    Standing,
    Step,
    StreamTable,
    new_id,
    new_refresh_id,
)
from streamtables.catalog.store import Catalog

__all__ = [
    "Catalog",
    "CatalogSnapshot",
    "Column",
    "Definitions",
    "Input",
    "RefreshRecord",
    "Source",
    "Standing",
    "Step",
    "StreamTable",
    "default_location",
    "new_id",
    "new_refresh_id",
]
