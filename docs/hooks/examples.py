"""Shows the `Example:` section of a docstring as code, as griffe shows `Examples:`."""

import re
from typing import Any

import griffe


class ExampleSections(griffe.Extension):
    def on_object(self, *, obj: griffe.Object, **kwargs: Any) -> None:
        if obj.docstring:
            value = obj.docstring.value
            obj.docstring.value = re.sub(
                r"^Example:$", "Examples:", value, flags=re.MULTILINE
            )
