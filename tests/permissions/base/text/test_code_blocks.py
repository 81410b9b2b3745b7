"""Code blocks are copied as code: no fences, no indent of a list."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from permissions.base.text.code_blocks import code_blocks

TEXT = """Look:

```python
def f():
    return 1
```

- in a list:

  ~~~
  a ``` b
    indented
  ~~~

````md
```
nested
```
````

```sh
never closed"""


def test_blocks_come_in_order_without_fences_and_indent() -> None:
    assert code_blocks(TEXT) == [
        "def f():\n    return 1",
        "a ``` b\n  indented",
        "```\nnested\n```",
        "never closed",
    ]


@pytest.mark.parametrize("text", ["", "no code", "`inline`", "```not a fence```"])
def test_text_without_fences_has_none(text: str) -> None:
    assert code_blocks(text) == []


@given(st.lists(st.text("ab \n~", max_size=12), max_size=4))
def test_what_was_fenced_comes_back(codes: list[str]) -> None:
    text = "\n\n".join(f"```\n{code}\n```" for code in codes)
    assert code_blocks(text) == codes
