"""LEB128, the numbers of any length that WebAssembly is made of and that AIGER writes its gates with."""


def unsigned(value: int) -> bytes:
    """LEB128: seven bits a byte, lowest first, the top bit saying that more follow."""
    parts = bytearray()
    while value >= 0x80:
        parts.append(value & 0x7F | 0x80)
        value >>= 7
    parts.append(value)
    return bytes(parts)


def signed(value: int) -> bytes:
    parts = bytearray()
    while not -64 <= value < 64:
        parts.append(value & 0x7F | 0x80)
        value >>= 7
    parts.append(value & 0x7F)
    return bytes(parts)
