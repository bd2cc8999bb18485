"""The bytes behind a column of texts, for the few formats that Arrow has no kernel for."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa


class DoesNotFit(Exception):  # noqa: N818 - it never leaves this package; the caller names a column
    """A text that has no value in the type that was asked for."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.text = text


@dataclass(frozen=True)
class TextBytes:
    """All texts of a column in a row, and where each begins and ends."""

    data: npt.NDArray[np.uint8]
    edges: npt.NDArray[np.int64]

    @classmethod
    def of(cls, texts: pa.Array) -> TextBytes:
        """Look at large strings without NULLs; the bytes are not copied."""
        if len(texts) == 0:
            return cls(np.zeros(0, np.uint8), np.zeros(1, np.int64))
        _, edges_buffer, data_buffer = texts.buffers()
        edges = np.frombuffer(edges_buffer, np.int64)[texts.offset :][: len(texts) + 1]
        data = np.frombuffer(data_buffer or b"", np.uint8)
        return cls(data[edges[0] : edges[-1]], edges - edges[0])


def first_where(texts: pa.Array, bad: npt.NDArray[np.bool_]) -> None:
    """Raise with the first text that is marked; do nothing when none is."""
    if bad.any():
        raise DoesNotFit(texts[int(np.argmax(bad))].as_py())
