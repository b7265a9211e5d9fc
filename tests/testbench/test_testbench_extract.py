"""The code in a reply."""

from __future__ import annotations

import pytest

from retrial.testbench.extract import extract_code

ADD = "def add(a, b):\n    return a + b\n"
PROMPT = 'from typing import List\n\n\ndef total(xs: List[int]) -> int:\n    """Add them."""\n'
REPLIES = {
    "bare": ADD,
    "fenced": f"```python\n{ADD}```",
    "prose around": f"Here it is:\n\n```python\n{ADD}```\nIt adds.",
    "no language": f"```\n{ADD}```",
    "tildes": f"~~~python\n{ADD}~~~",
    "unclosed": f"Sure.\n```py\n{ADD}",
    "windows lines": f"```python\n{ADD}```".replace("\n", "\r\n"),
    "byte order mark": "\ufeff" + ADD,
    "no-break spaces": ADD.replace("    ", "\u00a0\u00a0\u00a0\u00a0"),
    "several": f"```bash\npip install x\n```\n```python\n{ADD}```\n```python\nprint(add(1, 2))\n```",
    "shown before": f"```python\ndef add(a, b):\n    return a - b\n```\nFixed:\n```python\n{ADD}```",
    "prose without a fence": f"Here is the function:\n\n{ADD}\nI hope that this helps!",
    "fence in a list": "1. This:\n   ```python\n   def add(a, b):\n       return a + b\n   ```",
}


@pytest.mark.parametrize("reply", REPLIES.values(), ids=REPLIES)
def test_code_is_found_in(reply):
    """However a reply presents the function, the same code comes out."""
    assert extract_code(reply, "add") == ADD


def test_a_fence_in_a_docstring_does_not_close_the_block():
    """Only a fence at the block's own indentation ends it."""
    code = 'def add(a, b):\n    """\n    ```\n    add(1, 2)\n    ```\n    """\n    return a + b\n'
    assert extract_code(f"```python\n{code}```", "add") == code


def test_helpers_of_an_earlier_block_come_along():
    """A block that the entry point's block needs is put before it."""
    reply = "```python\ndef half(x):\n    return x / 2\n```\nand\n```python\ndef add(a, b):\n    return half(a)\n```"
    assert extract_code(reply, "add") == "def half(x):\n    return x / 2\n\ndef add(a, b):\n    return half(a)\n"


@pytest.mark.parametrize(
    "reply",
    [
        "    s = 0\n    for x in xs:\n        s += x\n    return s",
        "s = 0\n    for x in xs:\n        s += x\n    return s",
        "s = 0\nfor x in xs:\n    s += x\nreturn s",
        "```python\n    s = 0\n    for x in xs:\n        s += x\n    return s\n```",
        "```\ns = 0\nfor x in xs:\n    s += x\nreturn s\n```",
    ],
    ids=["indented", "first line lost", "all lost", "fenced", "fenced and lost"],
)
def test_a_body_continues_its_prompt(reply):
    """A reply that does not define the entry point is the body of the prompt's function."""
    assert (
        extract_code(reply, "total", PROMPT) == PROMPT + "    s = 0\n    for x in xs:\n        s += x\n    return s\n"
    )


def test_whole_code_keeps_what_the_prompt_imports():
    """A reply that is whole still finds the names that its prompt defines."""
    code = extract_code("def total(xs: List[int]) -> int:\n    return sum(xs)\n", "total", PROMPT)
    space = {}
    exec(code, space)
    assert space["total"]([1, 2]) == 3


def test_future_imports_stay_first():
    """Code with a future import still compiles after a prompt."""
    code = extract_code("from __future__ import annotations\ndef total(xs): return 1", "total", PROMPT)
    compile(code, "x", "exec")


def test_prose_is_no_code():
    """A reply without any code gives nothing."""
    assert extract_code("I think the best approach is to use recursion.", "add") == ""


def test_broken_code_stays_as_written():
    """Code that does not parse is given back for the error to be about it."""
    assert extract_code("def add(a,b) return a+b", "add") == "def add(a,b) return a+b\n"


def test_code_without_a_fence_may_hold_one_in_its_docstring():
    """A reply that is nothing but code is taken whole, example and all."""
    code = 'def f(x):\n    """Double.\n\n    ```\n    f(1)\n    ```\n    """\n    return 2 * x\n'
    assert extract_code(code, "f") == code
