"""Moves of an epoch are found by its number, so that old numbers can go."""

from __future__ import annotations

from alembic import op

revision = "0013"
down_revision = "0012"


def upgrade() -> None:
    op.create_index("epoch_moves_by_epoch", "epoch_moves", ["epoch"])
