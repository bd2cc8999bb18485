"""How a warehouse is: the part of the interface that looks for what is wrong."""

from __future__ import annotations

from streamtables.catalog import Catalog
from streamtables.engine.warehouses import Warehouse
from streamtables.refresh.health import HealthFinding, health_findings
from streamtables.refresh.surroundings import Surroundings


class Health:
    """The methods of an open warehouse that are about its health."""

    place: Warehouse
    _catalog: Catalog
    _around: Surroundings

    def health_check(self) -> list[HealthFinding]:
        """Return what is wrong or soon will be, the worst first; nothing is changed.

        Looked at are states and failures of tables, their logs against the catalog, the history
        that their next refresh needs, captured servers, folders that nothing defines, and the disk.
        """
        return health_findings(self._around, self._catalog.snapshot())
