"""Torch modules that describe themselves as levels of a `Stack`: layers of gates, and the sum of class scores."""

from hardwire.layers.base import LAYERS, Fused, GateLayer, Part, check_input, parts_of, register_layer
from hardwire.layers.binarize import Binarize
from hardwire.layers.conv import LogicConv2d
from hardwire.layers.group_sum import GroupSum, NumberSum, check_groups, default_group_temperature
from hardwire.layers.logic import LogicLayer
from hardwire.layers.pool import OrPool2d
from hardwire.layers.selector import Selecting, Selector, check_seed, one_step, selection_mode

__all__ = [
    "LAYERS",
    "Binarize",
    "Fused",
    "GateLayer",
    "GroupSum",
    "LogicConv2d",
    "LogicLayer",
    "NumberSum",
    "OrPool2d",
    "Part",
    "Selecting",
    "Selector",
    "check_groups",
    "check_input",
    "check_seed",
    "default_group_temperature",
    "one_step",
    "parts_of",
    "register_layer",
    "selection_mode",
]
