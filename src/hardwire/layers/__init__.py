"""Torch modules: layers of gates, which describe themselves as levels of a `Stack`, and sums of class scores."""

from hardwire.layers.base import LAYERS, Fused, GateLayer, NetworkPart, check_input, parts_of, register_layer
from hardwire.layers.binarize import Binarize
from hardwire.layers.conv import LogicConv2d
from hardwire.layers.edges import EdgeChannels
from hardwire.layers.group_sum import GroupSum, NumberSum, check_groups, class_sums, default_group_temperature
from hardwire.layers.local import CellularAutomaton, LocalLayer
from hardwire.layers.logic import LogicLayer
from hardwire.layers.lut import LutLayer
from hardwire.layers.pool import OrPool2d
from hardwire.layers.recurrent import Recurrent
from hardwire.layers.selector import Selecting, Selector, one_step, selection_mode
from hardwire.layers.size import LayerSize
from hardwire.layers.wired import WiredLayer

__all__ = [
    "LAYERS",
    "Binarize",
    "CellularAutomaton",
    "EdgeChannels",
    "Fused",
    "GateLayer",
    "GroupSum",
    "LayerSize",
    "LocalLayer",
    "LogicConv2d",
    "LogicLayer",
    "LutLayer",
    "NetworkPart",
    "NumberSum",
    "OrPool2d",
    "Recurrent",
    "Selecting",
    "Selector",
    "WiredLayer",
    "check_groups",
    "check_input",
    "class_sums",
    "default_group_temperature",
    "one_step",
    "parts_of",
    "register_layer",
    "selection_mode",
]
