"""Tests the comparison of values that the protocol fixes, of errors beside results, and of forms."""

from __future__ import annotations

import pytest
from edited_sdks import compared, differences, sources

PYTHON = "parlor/robots/voice/dialog_driver.py"
TYPESCRIPT = "src/voice/dialog_driver.ts"


@pytest.mark.parametrize(
    ("language", "file", "before", "after"),
    [
        ("python", PYTHON, "= 1 << 20", "= 1024 * 1024"),
        ("python", PYTHON, "= 1 << 20", ": Final = 1_048_576"),
        ("python", PYTHON, "= 1 << 20", "= _MEBIBYTE\n_MEBIBYTE = 0x100000"),
        ("python", PYTHON, "timeout: float = 60.0", "timeout: float = 60"),
        ("python", PYTHON, ", timeout: float = 60.0", ", *, timeout: float = 60.0"),
        ("typescript", TYPESCRIPT, "= 1 << 20", "= 1024 * 1024"),
        ("typescript", TYPESCRIPT, "= 1 << 20", "= 1_048_576 as number"),
        ("typescript", TYPESCRIPT, "= 1 << 20", "= MEBIBYTE;\nconst MEBIBYTE = 0x100000"),
        ("typescript", TYPESCRIPT, "timeout = 60000", "timeout: number = 60 * 1000"),
        ("typescript", TYPESCRIPT, "      error,\n", "      error ?? undefined,\n"),
    ],
)
def test_the_form_of_a_value_does_not_matter(
    language: str, file: str, before: str, after: str
) -> None:
    files = dict(sources(language))
    assert before in files[file]
    files[file] = files[file].replace(before, after, 1)
    assert differences(language, files) == differences(language, sources(language))


@pytest.mark.parametrize(
    ("value", "read"),
    [
        ("1 << 1_000_000_000", False),
        ("True", False),
        ("_TCP_MAX_MESSAGE_SIZE", False),
        ("2 ** 20", False),
        ("(1 << 19) + (1 << 19)", True),
    ],
)
def test_a_value_is_evaluated_or_a_finding(value: str, read: bool) -> None:
    files = dict(sources("python"))
    files[PYTHON] = files[PYTHON].replace("1 << 20", value)
    assert ("constant message_size_limit" not in differences("python", files)) is read


def test_a_form_that_only_one_sdk_shows_is_not_compared() -> None:
    files = dict(sources("python"))
    files[PYTHON] = files[PYTHON].replace("str(options_given.max_tool_steps)", "options_given.text")
    name = "form DialogResponse.GetDialogModeResponse.options.max_tool_steps"
    assert name in compared("python", sources("python"))
    assert name not in compared("python", files)


def test_two_definitions_of_a_constant_are_a_finding() -> None:
    files = {**sources("python"), "parlor/robots/room.py": 'TOPIC_DIALOG_MESSAGES = "other"\n'}
    assert "constant topic" in differences("python", files)


@pytest.mark.parametrize(
    ("language", "file", "line", "step"),
    [
        (
            "python",
            PYTHON,
            "            items = [pack_talk_entry(item) for item in self._dialog.history.items]\n",
            "            items = items[1:] + items + list(items)\n",
        ),
        (
            "typescript",
            TYPESCRIPT,
            "    const items = talkEntrysToProto(this.dialog!.history.items);\n",
            "    items = items.slice(1).concat(items, [...items]);\n",
        ),
    ],
)
def test_a_list_that_is_computed_from_itself_many_times_is_read(
    language: str, file: str, line: str, step: str
) -> None:
    """Each value is followed once; following all of them again at each step would not end."""
    files = dict(sources(language))
    assert line in files[file]
    files[file] = files[file].replace(line, line + step * 20)
    found = [name for name in differences(language, files) if name.startswith("omission ")]
    assert len(found) == 1
