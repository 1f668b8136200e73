"""`parity --prune`: removes gaps that no longer exist from the gap files."""

from __future__ import annotations

from pathlib import Path

import pytest
from small_protocol import DRIVER, SDK, Small, replace

from sessiongen_command import invoke, working_in

from sessiongen import parity, pipeline
from sessiongen.config import reader
from sessiongen.diagnostics import InputError

# The driver lacks a method: the only difference.
WITHOUT_METHOD = replace(SDK, driver=replace(DRIVER, sends=()))
HEADER = "# Ours.\n"
KEPT = """
[[gaps]]
kind = "not-yet"
reason = "No method."

[gaps.covers]
"request ask: driver" = "request ask: its driver cannot send it"
"""
GONE = """
# Explains the entry below.
[[gaps]]
kind = "sdk-bug"
reason = "Never sent."

[gaps.covers]
"event ended: host" = "event ended: its host does not send it"
"event ended: driver" = "event ended: its driver does not receive it"
"""


def pruned(folder: Path, text: str) -> tuple[list[str], str]:
    """Returns the lines that `prune` prints, and the gap file afterwards."""
    Small(folder).compare(WITHOUT_METHOD)
    file = folder / "sdk0.gaps.toml"
    file.write_text(text, encoding="utf-8")
    config = reader.load(folder / "codegen.toml")
    model = pipeline.model(config)
    result = parity.compare(model.protocol, model.annotated, config)
    with working_in(folder):
        return parity.prune(result), file.read_text(encoding="utf-8")


def test_entries_without_a_difference_are_removed(tmp_path: Path) -> None:
    lines, text = pruned(tmp_path, HEADER + GONE + KEPT)
    assert lines == ["removed 2 gaps that no longer exist from sdk0.gaps.toml"]
    # A comment above an entry stays, as it may be about the entry before it.
    assert text == HEADER + "\n# Explains the entry below.\n" + KEPT.lstrip("\n")
    assert pruned(tmp_path, text) == ([], text)


def test_an_entry_keeps_its_other_differences(tmp_path: Path) -> None:
    mixed = GONE + KEPT.splitlines(keepends=True)[-1]
    _, text = pruned(tmp_path, HEADER + mixed)
    assert text == HEADER + "".join(
        line for line in mixed.splitlines(keepends=True) if not line.startswith('"event')
    )


def test_a_difference_in_another_state_stays(tmp_path: Path) -> None:
    changed = KEPT.replace("cannot send it", "was never sent")
    assert pruned(tmp_path, changed) == ([], changed)


def test_a_difference_that_was_not_looked_for_stays(tmp_path: Path) -> None:
    unread = KEPT.replace("request ask: driver", "field Ended.detail: Host.unread")
    assert pruned(tmp_path, unread) == ([], unread)


@pytest.mark.parametrize(
    "text",
    [
        '[[gaps]]\nkind = "design"\nreason = "x"\n'
        'covers = { "event ended: host" = "event ended: its host does not send it" }\n',
        '[[gaps]]\nkind = "design"\nreason = "x"\n[gaps.covers]\n'
        '"event ended: host" = """\nevent ended: its host does not send it"""\n',
    ],
    ids=["inline table", "several lines"],
)
def test_a_file_in_another_form_is_refused(text: str, tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        pruned(tmp_path, text)
    [fault] = caught.value.diagnostics
    assert fault.message == "gaps cannot be removed from this gap file"
    assert (tmp_path / "sdk0.gaps.toml").read_text(encoding="utf-8") == text


def test_the_command_prunes_and_compares_again(tmp_path: Path) -> None:
    Small(tmp_path).compare()
    (tmp_path / "sdk0.gaps.toml").write_text(GONE, encoding="utf-8")
    outcome = invoke(tmp_path, "parity", "--prune")
    assert (outcome.status, outcome.errors) == (0, "")
    assert outcome.output.startswith("removed 2 gaps that no longer exist from sdk0.gaps.toml\n")
    assert "0 findings, 0 declared gaps" in outcome.output
