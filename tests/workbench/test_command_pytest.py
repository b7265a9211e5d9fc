"""A pytest project as the judge: replies in every form, and what they may not do."""

from __future__ import annotations

import pytest

RIGHT = 'import re\n\n\ndef slugify(text):\n    return "-".join(re.findall("[a-z0-9]+", text.lower()))\n'
DIFF = """\
Here is the change:

```diff
--- a/src/slug.py
+++ b/src/slug.py
@@ -10,7 +10,9 @@
+import re
+
 def slugify(text):
-    return text.lower()
+    return "-".join(re.findall("[a-z0-9]+", text.lower()))
```
"""
FORMS = {
    "bare": RIGHT,
    "fenced": f"```python\n{RIGHT}```",
    "named above": f"src/slug.py\n```python\n{RIGHT}```\nDone.",
    "diff with wrong numbers": DIFF,
}


@pytest.mark.parametrize("form", FORMS)
def test_a_right_reply_passes_in_every_form(form, slug_project, check):
    """Bare code, a fence, a named file and a diff whose numbers are wrong all become the same change."""
    verdict, _ = check(slug_project, FORMS[form], target="src/slug.py")
    assert verdict.passed, verdict.reason
    assert verdict.score == 1.0
    assert [check.passed for check in verdict.checks] == [True, True, True]
    assert (verdict.trust, verdict.shared_process) == ("tests", True)
    assert verdict.isolation.mechanism.endswith("+fork")
    assert (slug_project / "src/slug.py").read_text().endswith("return text.lower()\n")


def test_a_wrong_reply_fails_test_by_test(slug_project, check):
    """The reason names the tests with what they compared, the score is their share, and nothing of this machine."""
    verdict, _ = check(
        slug_project, "def slugify(text):\n    return text.lower().replace(' ', '-')", target="src/slug.py"
    )
    assert not verdict.passed
    assert verdict.score == pytest.approx(2 / 3)
    assert verdict.reason.startswith(
        "2 of 3 tests passed\n- tests.test_slug.test_symbols: AssertionError: assert 'c++-&-more'"
    )
    assert "/work" not in verdict.reason
    again, _ = check(
        slug_project, "def slugify(text):\n    return text.lower().replace(' ', '-')", target="src/slug.py"
    )
    assert again.reason == verdict.reason


HOSTILE = {
    "ends the program with 0": ("```python src/slug.py\nimport os\nos._exit(0)\n```", "left no report"),
    "raises SystemExit": ("```python src/slug.py\nraise SystemExit(0)\n```", "SystemExit"),
    "overwrites the tests": ("tests/test_slug.py\n```\ndef test_nothing(): pass\n```", "is protected"),
    "tests and code": (
        "tests/test_slug.py\n```\ndef test_nothing(): pass\n```\nsrc/slug.py\n```\ndef slugify(text): return 1\n```",
        "Protected files stay as they are: tests/test_slug.py",
    ),
    "deletes the tests": (
        "```diff\n--- a/tests/test_slug.py\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-import pytest\n```",
        "is protected",
    ),
    "plants a conftest": (
        "conftest.py\n```\nimport os; os._exit(0)\n```\nsrc/a.py\n```\n1\n```",
        "stay as they are: conftest.py",
    ),
    "plants a deep conftest": (
        "src/conftest.py\n```\nimport os; os._exit(0)\n```\nsrc/a.py\n```\n1\n```",
        "conftest.py",
    ),
    "plants a sitecustomize": ("src/sitecustomize.py\n```\n1\n```\nsrc/a.py\n```\n1\n```", "sitecustomize.py"),
    "plants a pytest.ini": ("pytest.ini\n```\n[pytest]\ntestpaths = src\n```", "is protected"),
    "plants a setup.cfg": ("setup.cfg\n```\n[tool:pytest]\n```", "is protected"),
    "stands in for pytest": ("pytest.py\n```\nraise SystemExit(0)\n```", "'pytest.py' would be imported in place"),
    "stands in for a module": ("src/re.py\n```\n1\n```", "'src/re.py' would be imported in place"),
    "brings the report": (
        ".retrial-junit.xml\n```\n<testsuite><testcase name='a'/></testsuite>\n```\nsrc/slug.py\n```\nimport os; os._exit(0)\n```",
        "left no report",
    ),
    "leads out": ("../../evil.py\n```\n1\n```", "'../../evil.py' leads out"),
    "leads out by an absolute path": ("/etc/cron.d/x\n```\n1\n```", "'/etc/cron.d/x' leads out"),
    "leads out in a diff": ("--- /dev/null\n+++ b/../evil.py\n@@ -0,0 +1 @@\n+1\n", "'../evil.py' leads out"),
    "writes into .git": ("src/.git/hooks/x\n```\n1\n```", "'src/.git/hooks/x' lies in a folder"),
    "makes a link": (
        "```diff\ndiff --git a/x b/x\nnew file mode 120000\n--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+/etc\n```",
        "makes a link",
    ),
    "a file as a folder": ("src/slug.py/x.py\n```\n1\n```", "'src/slug.py' is a file"),
    "a banana": ("banana", "neither a diff nor a named file"),
    "nothing": (" \n", "is empty"),
    "no change": ("src/slug.py\n```\ndef slugify(text):\n    return text.lower()\n```", "changes nothing"),
}


@pytest.mark.parametrize("case", HOSTILE)
def test_what_a_reply_may_not_do_fails_and_is_told(case, slug_project, check):
    """None of these passes; each is the reply's own fault, said in words that a lesson can be made of."""
    reply, words = HOSTILE[case]
    verdict, result = check(slug_project, reply)
    assert not verdict.passed
    assert verdict.reflectable
    assert words in verdict.reason, verdict.reason
    assert result.status == "COMPLETED"


def test_a_patch_that_does_not_apply_names_its_hunk(slug_project, check):
    """Which file, which hunk, and the line that is not there."""
    reply = DIFF.replace("-    return text.lower()", "-    return text.upper()")
    verdict, _ = check(slug_project, reply)
    assert verdict.reason == (
        "The reply could not be used: hunk 1 of 'src/slug.py' does not apply: the file has no line 'return text.upper()'"
    )


def test_a_report_that_the_code_writes_does_not_help_a_failing_command(slug_project, check):
    """A report of success beside an exit code that is not 0 is no pass; pytest's own report comes last."""
    reply = (
        "src/slug.py\n```\nimport pathlib\n"
        "pathlib.Path('.retrial-junit.xml').write_text('<testsuite><testcase name=\"a\"/></testsuite>')\n"
        "def slugify(text): return text\n```"
    )
    verdict, _ = check(slug_project, reply)
    assert not verdict.passed
    assert "1 of 3 tests passed" in verdict.reason
    leaves = reply.replace("def slugify(text): return text", "import os; os._exit(3)")
    verdict, _ = check(slug_project, leaves)
    assert not verdict.passed
    assert verdict.score < 1
    assert "exit code 3" in verdict.reason


def test_what_the_page_on_commands_says_of_its_limit_is_so(slug_project, check):
    """Code that shares a process with its runner and forges the whole report passes: the limit that docs/commands.md names."""
    reply = (
        "src/slug.py\n```\nimport os, pathlib\n"
        "pathlib.Path('.retrial-junit.xml').write_text('<testsuite><testcase name=\"a\"/></testsuite>')\nos._exit(0)\n```"
    )
    verdict, _ = check(slug_project, reply)
    assert verdict.passed


def test_a_skipped_test_counts_for_nobody(slug_project, check):
    """With every test skipped nothing was shown, whatever the exit code is."""
    (slug_project / "tests/test_slug.py").write_text(
        "import pytest\npytestmark = pytest.mark.skip\ndef test_a(): pass\n"
    )
    verdict, _ = check(slug_project, RIGHT, target="src/slug.py")
    assert not verdict.passed
    assert "no test was run" in verdict.reason


def test_protected_files_can_be_chosen(slug_project, check):
    """A task's own list takes the place of what tests are usually called, and ``editable`` comes before everything."""
    planted = f"tests/test_slug.py\n```\ndef test_nothing(): pass\n```\nsrc/slug.py\n```\n{RIGHT}```"
    verdict, _ = check(slug_project, planted, protected=["src/**"])
    assert [check.name for check in verdict.checks] == ["tests.test_slug.test_nothing"]
    verdict, _ = check(slug_project, planted, editable=["tests/**"])
    assert [check.name for check in verdict.checks] == ["tests.test_slug.test_nothing"]
