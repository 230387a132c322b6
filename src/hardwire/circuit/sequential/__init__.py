"""Circuits with state: their registers, how they run, how these are simplified, and the files that hold them."""

from hardwire.circuit.sequential.state import State

__all__ = ["State"]
