"""A WebAssembly module as bytes: only the sections, types and instructions that an exported circuit needs.

Code is a flat sequence of bytes made by `op` and similar functions; a value is named by the number of its local. A
`Word` holds one bit of many images: 128 with SIMD, 64 otherwise.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from hardwire.circuit.leb128 import signed, unsigned
from hardwire.gates import algebra

I32, I64, F32, V128 = 0x7F, 0x7E, 0x7D, 0x7B
PAGE = 1 << 16

OPCODES = {
    "block": 0x02,
    "loop": 0x03,
    "end": 0x0B,
    "br": 0x0C,
    "br_if": 0x0D,
    "call": 0x10,
    "local.get": 0x20,
    "local.set": 0x21,
    "local.tee": 0x22,
    "select": 0x1B,
    "i32.load": 0x28,
    "i64.load": 0x29,
    "f32.load": 0x2A,
    "i32.load8_s": 0x2C,
    "i32.load8_u": 0x2D,
    "i32.load16_s": 0x2E,
    "i32.load16_u": 0x2F,
    "i32.store": 0x36,
    "i64.store": 0x37,
    "i32.store16": 0x3B,
    "i32.eqz": 0x45,
    "i32.const": 0x41,
    "i64.const": 0x42,
    "i32.lt_u": 0x49,
    "i32.gt_s": 0x4A,
    "f32.gt": 0x5E,
    "i32.add": 0x6A,
    "i32.sub": 0x6B,
    "i32.mul": 0x6C,
    "i32.and": 0x71,
    "i32.or": 0x72,
    "i32.shl": 0x74,
    "i32.shr_u": 0x76,
    "i64.and": 0x83,
    "i64.shl": 0x86,
    "i64.shr_u": 0x88,
    "i64.or": 0x84,
    "i64.xor": 0x85,
    "i64.extend_i32_s": 0xAC,
}
SIMD = {  # after the prefix 0xFD
    "v128.load": 0,
    "v128.store": 11,
    "v128.const": 12,
    "i8x16.shuffle": 13,
    "i8x16.splat": 15,
    "i8x16.gt_s": 39,
    "i8x16.gt_u": 40,
    "v128.not": 77,
    "v128.and": 78,
    "v128.andnot": 79,
    "v128.or": 80,
    "v128.xor": 81,
    "i8x16.bitmask": 100,
    "i64x2.shl": 203,
    "i64x2.shr_u": 205,
}


def op(name: str, *numbers: int) -> bytes:
    """Returns an instruction with its operands: a local, a function, a depth, or alignment and offset."""
    code = b"\xfd" + unsigned(SIMD[name]) if name in SIMD else bytes([OPCODES[name]])
    return code + b"".join(map(unsigned, numbers))


def get(local: int) -> bytes:
    """Pushes a local."""
    return op("local.get", local)


def put(local: int) -> bytes:
    """Pops a local."""
    return op("local.set", local)


def i32(value: int) -> bytes:
    """Pushes a constant."""
    return op("i32.const") + signed(value)


def add(local: int, number: int) -> bytes:
    """Adds a constant to a local."""
    return get(local) + i32(number) + op("i32.add") + put(local)


def while_less(local: int, limit: bytes, body: bytes) -> bytes:
    """Repeats the body, which must increase `local`, while local < limit (unsigned)."""
    enough = get(local) + limit + op("i32.lt_u") + op("i32.eqz") + op("br_if", 1)
    return op("block") + b"\x40" + op("loop") + b"\x40" + enough + body + op("br", 0) + op("end") * 2


@dataclass(frozen=True)
class Word:
    """The type that holds one bit of many images.

    Attributes:
        bits: How many images.
        type: WebAssembly type of a local.
        prefix: Of its instructions.
        alignment: Of its memory accesses, as a power of two.
    """

    bits: int
    type: int
    prefix: str
    alignment: int

    @property
    def size(self) -> int:
        """Bytes."""
        return self.bits // 8

    def constant(self, ones: bool) -> bytes:
        """Pushes all ones or all zeros."""
        if self.type == V128:
            return op("v128.const") + (b"\xff" if ones else b"\0") * 16
        return op("i64.const") + signed(-1 if ones else 0)

    def apply(self, name: str) -> bytes:
        """Applies an operation to the top of the stack."""
        return op(f"{self.prefix}.{name}")

    def load(self, offset: int = 0) -> bytes:
        """Loads from the address on the stack plus `offset`."""
        return op(f"{self.prefix}.load", self.alignment, offset)

    def store(self, offset: int = 0) -> bytes:
        """Stores to the address on the stack plus `offset`."""
        return op(f"{self.prefix}.store", self.alignment, offset)

    def negate(self) -> bytes:
        """Negates the top of the stack."""
        return op("v128.not") if self.type == V128 else self.constant(True) + op("i64.xor")

    def gate(self, gate: int, a: bytes, b: bytes) -> bytes:
        """Computes a gate; operands are given as the code that pushes them."""
        if gate in algebra.CONSTANTS:
            return self.constant(gate == algebra.TRUE)
        if gate in algebra.WIRES:
            operand = a if gate in (algebra.A, algebra.NOT_A) else b
            return operand + (self.negate() if gate in (algebra.NOT_A, algebra.NOT_B) else b"")
        if gate in (algebra.XOR, algebra.XNOR):
            return a + b + self.apply("xor") + (self.negate() if gate == algebra.XNOR else b"")
        first, second, result = algebra.AS_AND[gate]
        if first and second:
            return a + b + self.apply("or") + (b"" if result else self.negate())
        if first:
            a, b = b, a
        return a + b + (self.and_not() if first or second else self.apply("and")) + (self.negate() if result else b"")

    def spread(self, bit: bytes) -> bytes:
        """Copies a bit, which the code pushes as an i32, to all images."""
        return i32(0) + bit + op("i32.sub") + op("i8x16.splat" if self.type == V128 else "i64.extend_i32_s")

    def and_not(self) -> bytes:
        """Computes a and not b of the top two on the stack."""
        return op("v128.andnot") if self.type == V128 else self.negate() + op("i64.and")


SIMD_WORD = Word(128, V128, "v128", 4)
PLAIN_WORD = Word(64, I64, "i64", 3)


@dataclass
class WasmModule:
    """Functions, one memory with initial contents, constant globals, and a text section."""

    functions: list[tuple[int, list[int], bytes]] = field(default_factory=list)  # parameters, types of locals, code
    exports: dict[str, int] = field(default_factory=dict)  # function numbers
    constants: dict[str, int] = field(default_factory=dict)  # exported as globals
    data: list[tuple[int, bytes]] = field(default_factory=list)
    text: str = ""

    def function(self, code: bytes, *, parameters: int = 0, local_types: Iterable[int] = (), export: str = "") -> int:
        """Adds a function with i32 parameters and no result; returns its number."""
        self.functions.append((parameters, list(local_types), code))
        if export:
            self.exports[export] = len(self.functions) - 1
        return len(self.functions) - 1

    def bytes(self, memory: int) -> bytes:
        """Returns the file, with a memory of this many bytes."""
        pages = -(-memory // PAGE)
        kinds = sorted({parameters for parameters, *_ in self.functions})
        types = [b"\x60" + _vector([bytes([I32])] * parameters) + b"\0" for parameters in kinds]
        names = [_name(name) + b"\0" + unsigned(number) for name, number in self.exports.items()]
        names += [_name(name) + b"\3" + unsigned(number) for number, name in enumerate(self.constants)]
        globals_ = [bytes([I32, 0]) + i32(value) + op("end") for value in self.constants.values()]
        sections = [
            (0, _name("hardwire") + self.text.encode()),
            (1, _vector(types)),
            (3, _vector([unsigned(kinds.index(parameters)) for parameters, *_ in self.functions])),
            (5, _vector([b"\1" + unsigned(pages) * 2])),
            (6, _vector(globals_)),
            (7, _vector([_name("memory") + b"\2\0", *names])),
            (10, _vector([_body(local_types, code) for _, local_types, code in self.functions])),
            (11, _vector([b"\0" + i32(at) + op("end") + unsigned(len(part)) + part for at, part in self.data if part])),
        ]
        return b"\0asm\1\0\0\0" + b"".join(
            bytes([number]) + unsigned(len(content)) + content for number, content in sections
        )


def _vector(items: Sequence[bytes]) -> bytes:
    return unsigned(len(items)) + b"".join(items)


def _name(text: str) -> bytes:
    return unsigned(len(text.encode())) + text.encode()


def _body(local_types: list[int], code: bytes) -> bytes:
    runs: list[list[int]] = []
    for kind in local_types:
        if runs and runs[-1][1] == kind:
            runs[-1][0] += 1
        else:
            runs.append([1, kind])
    content = _vector([unsigned(count) + bytes([kind]) for count, kind in runs]) + code + op("end")
    return unsigned(len(content)) + content
