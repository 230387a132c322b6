"""LEB128, the variable-length integers of WebAssembly and of binary AIGER."""


def unsigned(value: int) -> bytes:
    """Encodes seven bits a byte, lowest first; the top bit says that more follow."""
    parts = bytearray()
    while value >= 0x80:
        parts.append(value & 0x7F | 0x80)
        value >>= 7
    parts.append(value)
    return bytes(parts)


def signed(value: int) -> bytes:
    """The same in two's complement."""
    parts = bytearray()
    while not -64 <= value < 64:
        parts.append(value & 0x7F | 0x80)
        value >>= 7
    parts.append(value & 0x7F)
    return bytes(parts)
