"""Every example of these pages runs as it stands and prints what the page says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[1] / "docs"
PAGES = [DOCS / "tools.md", *sorted(DOCS.glob("algorithms/*.md"))]
EXAMPLES = [
    pytest.param(code, printed, id=f"{page.stem}-{number}")
    for page in PAGES
    for number, (code, printed) in enumerate(
        re.findall(r"```python\n(.*?)```\n(?:\n```text\n(.*?)```)?", page.read_text(), re.DOTALL), 1
    )
]


@pytest.mark.parametrize(("code", "printed"), EXAMPLES)
def test_an_example_prints_what_the_page_says(code, printed, capsys):
    """Offline, with what the page imports."""
    exec(compile(code, "example", "exec", dont_inherit=True), {"__name__": "__main__"})
    assert capsys.readouterr().out == printed
    assert printed, "an example shows what it prints"
