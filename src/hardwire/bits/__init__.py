"""Packed Boolean matrices: `words` (numpy), `Encoder` (raw values to bits) and `Bits` (packed words in torch).

Only `Bits` needs torch, and it is loaded on first use: a saved circuit packs, encodes and runs with numpy alone.
"""

from typing import TYPE_CHECKING, Any

from hardwire.bits.columns import Columns
from hardwire.bits.encoder import Encoder
from hardwire.bits.words import check_words, pack, transpose, unpack, word_count

if TYPE_CHECKING:
    from hardwire.bits.matrix import Bits as Bits

__all__ = ["Bits", "Columns", "Encoder", "check_words", "pack", "transpose", "unpack", "word_count"]


def __getattr__(name: str) -> Any:
    if name == "Bits":
        from hardwire.bits.matrix import Bits

        return Bits
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
