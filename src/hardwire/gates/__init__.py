"""The 16 two-input gates: their table, and their coefficients as a matrix."""

import numpy as np

from hardwire.gates.table import GATE_ARITY, GATE_NAMES, GATES, LEAST_ARITY, MOST_ARITY, THRESHOLD, Gate

__all__ = ["COEFFICIENTS", "GATES", "GATE_ARITY", "GATE_NAMES", "LEAST_ARITY", "MOST_ARITY", "THRESHOLD", "Gate"]

COEFFICIENTS = np.array([gate.coefficients for gate in GATES], np.float32)
"""[16, 4]: the matrix M; mixture weights [..., 16] @ M are the mixture's own four coefficients."""
COEFFICIENTS.setflags(write=False)
