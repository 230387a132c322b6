"""The paper's four methods and the variants of their straight-through estimator, as plain data.

The methods are the four corners of a square: the forward pass mixes or chooses, with or without Gumbel noise. So a
method is two Booleans, and one function serves them all.
"""

import re
from dataclasses import dataclass

from hardwire.errors import HardwireError, unknown_name


@dataclass(frozen=True)
class Method:
    """A way to choose one of K candidates.

    Attributes:
        name: The paper's name in lower case.
        hard: Whether the forward pass chooses one candidate. Otherwise it mixes them.
        noisy: Whether Gumbel noise is added to the logits.
    """

    name: str
    hard: bool
    noisy: bool


METHODS = {
    method.name: method
    for method in (
        Method("soft-mix", hard=False, noisy=False),
        Method("soft-gumbel", hard=False, noisy=True),
        Method("hard-st", hard=True, noisy=False),
        Method("gumbel-st", hard=True, noisy=True),
    )
}
"""The four methods by name: soft-mix, soft-gumbel, hard-st and gumbel-st."""


def get_method(name: "str | Method") -> Method:
    """Returns the method of this name; an unknown name raises an error that lists all four."""
    if isinstance(name, Method):
        return name
    if not isinstance(name, str) or name not in METHODS:
        raise unknown_name("method", name, METHODS)
    return METHODS[name]


METHOD_VARIANTS: dict[str, tuple[str, bool]] = {
    **{name: (name, False) for name in METHODS},
    **{f"{name}+cage": (name, True) for name, method in METHODS.items() if method.hard},
}
"""The six variants of the paper, the four methods and CAGE on the two hard ones: name -> (method, cage)."""


def method_name(method: str) -> str:
    """A method as the paper writes it: Soft-Mix, Gumbel-ST+CAGE."""
    return re.sub(r"\w+", lambda word: word[0].upper() if word[0] in ("st", "cage") else word[0].title(), method)


def parse_method(name: "str | Method") -> tuple[Method, bool]:
    """Splits one of the six names into a method and whether it uses CAGE."""
    if isinstance(name, Method):
        return name, False
    if not isinstance(name, str) or name not in METHOD_VARIANTS:
        raise unknown_name("method", name, METHOD_VARIANTS)
    method, cage = METHOD_VARIANTS[name]
    return METHODS[method], cage


CHOSEN = "chosen"
MIXTURE = "mixture"
INPUT_GRADIENTS = (CHOSEN, MIXTURE)
CLEAN = "clean"
NOISY = "noisy"
SURROGATES = (CLEAN, NOISY)


@dataclass(frozen=True)
class StraightThrough:
    """What the backward pass of a hard method differentiates in place of the choice.

    Attributes:
        surrogate: The weights w by which the logits learn: "clean", softmax(z / tau), or "noisy",
            softmax((z + noise) / tau) with the noise of the forward pass. Without noise both are the same.
        input_gradient: What the candidates' inputs receive: the gradient of the "chosen" candidate alone, or of the
            "mixture" sum_i w_i g_i.
    """

    surrogate: str
    input_gradient: str


STRAIGHT_THROUGH = {
    "output": StraightThrough(CLEAN, MIXTURE),
    "weights": StraightThrough(NOISY, CHOSEN),
    "noisy-output": StraightThrough(NOISY, MIXTURE),
    "clean-weights": StraightThrough(CLEAN, CHOSEN),
}
"""Where the straight-through estimator stands, by name.

"output" replaces the gradient of a neuron's output by that of its noise-free mixture, as the paper's Proposition 8 has
it. "weights" replaces only the gradient of the one-hot weights, as `torch.nn.functional.gumbel_softmax(hard=True)`
does. The other two are the remaining combinations, for studies.
"""


def get_straight_through(
    method: Method, name: str | None = None, surrogate: str | None = None, input_gradient: str | None = None
) -> StraightThrough:
    """The estimator that was asked for, by its name or by its parts; the method's default fills in the rest.

    Args:
        method: The method that chooses.
        name: One of STRAIGHT_THROUGH. By default "output" for gumbel-st and "weights" for hard-st.
        surrogate: One of SURROGATES, in place of a name.
        input_gradient: One of INPUT_GRADIENTS, in place of a name.
    """
    if name is not None and name not in STRAIGHT_THROUGH:
        raise unknown_name("straight_through", name, STRAIGHT_THROUGH)
    for key, value, known in (
        ("surrogate", surrogate, SURROGATES),
        ("input_gradient", input_gradient, INPUT_GRADIENTS),
    ):
        if value is not None and value not in known:
            raise unknown_name(key, value, known)
    if name is not None and (surrogate is not None or input_gradient is not None):
        raise HardwireError("give either straight_through, or surrogate and input_gradient, not both")
    named = STRAIGHT_THROUGH[name or ("output" if method.hard and method.noisy else "weights")]
    return StraightThrough(surrogate or named.surrogate, input_gradient or named.input_gradient)
