"""Compiled plans, kept: in the process, on the machine, in the catalog."""

from streamtables.refresh.plan_cache.basis import Basis
from streamtables.refresh.plan_cache.kept_plan import KeptPlan
from streamtables.refresh.plan_cache.levels import CacheLevel, Levels

__all__ = ["Basis", "CacheLevel", "KeptPlan", "Levels"]
