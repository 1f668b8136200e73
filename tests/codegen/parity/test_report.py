"""Tests of the matrix as text and markdown, and of its cells in JSON."""

from __future__ import annotations

import json
from pathlib import Path

import click
import pytest

from small_protocol import DRIVER, SDK, Small, replace

from sessiongen import parity

LEGEND = (
    "! finding   ~ declared gap   - missing in the SDK   "
    "n/a nothing to compare, or reported in another row\n"
    "unverified the SDK's code cannot be read here"
)


@pytest.fixture
def small(tmp_path: Path) -> Small:
    return Small(tmp_path)


def test_text_with_all_rows(small: Small) -> None:
    sdk = replace(SDK, driver=replace(DRIVER, sends=()))
    result = small.compare(sdk, [("request ask: driver", "no method yet")])
    text = parity.render(result, "text", all_rows=True)
    assert "  \x1b[33m~\x1b[0m small-sdk" in text and "- \x1b[33m~\x1b[0m\n" in text
    assert click.unstyle(text) == (
        "section               rows  findings  declared\n"
        "roles                 3     0         0\n"
        "enum small.End        4     0         0\n"
        "events                1     0         0\n"
        "requests              3     0         1\n"
        "request fields        1     0         0\n"
        "message small.Ended   2     0         0\n"
        "message small.Answer  1     0         0\n"
        "\n"
        "roles    small-sdk\n"
        "session  Session\n"
        "host     Host\n"
        "driver   Driver\n"
        "\n"
        "enum small.End                                  small-sdk\n"
        "END_UNKNOWN = 0                                 (anything else)\n"
        "END_DONE = 1                                    done\n"
        "(converted by)                                  ENDS\n"
        "(any other value; generated code: END_UNKNOWN)  END_UNKNOWN\n"
        "\n"
        "events  small-sdk host  small-sdk driver\n"
        "ended   close           ended\n"
        "\n"
        "requests         small-sdk host  small-sdk driver\n"
        "ask              ask             - ~\n"
        "(anything else)  answered\n"
        "(request_id)     n/a             n/a\n"
        "  ~ small-sdk: request ask: driver: no method yet\n"
        "\n"
        "request fields  small-sdk host  small-sdk driver\n"
        "ask.text        read            n/a\n"
        "\n"
        "message small.Ended  small-sdk\n"
        "reason               reason\n"
        "detail               detail\n"
        "\n"
        "message small.Answer  small-sdk\n"
        "text                  host\n"
        "\n"
        f"{LEGEND}\n"
        "small-sdk 1: 0 findings, 1 declared gaps (~)\n"
    )


def test_text_has_only_rows_that_differ_by_default(small: Small) -> None:
    sdk = replace(SDK, driver=replace(DRIVER, sends=()))
    result = small.compare(sdk, [("request ask: driver", "no method yet")])
    assert click.unstyle(parity.render(result, "text")) == (
        "section   rows  findings  declared\n"
        "requests  3     0         1\n"
        "\n"
        "requests  small-sdk host  small-sdk driver\n"
        "ask       ask             - ~\n"
        "  ~ small-sdk: request ask: driver: no method yet\n"
        "\n"
        f"{LEGEND}\n"
        "rows without differences are left out; show them with --all\n"
        "small-sdk 1: 0 findings, 1 declared gaps (~)\n"
    )


def test_text_of_a_complete_sdk_is_the_legend_and_the_counts(small: Small) -> None:
    lines = parity.render(small.compare(), "text").splitlines()
    assert "\n".join(lines[:2]) == LEGEND
    assert lines[-1] == "small-sdk 1: 0 findings, 0 declared gaps (~)"


def test_markdown_and_json(small: Small) -> None:
    sdk = replace(SDK, driver=replace(DRIVER, sends=()))
    result = small.compare(sdk, [("request ask: driver", "no method yet")])
    markdown = parity.render(result, "markdown")
    assert "| requests | small-sdk host | small-sdk driver |\n| --- | --- | --- |" in markdown
    assert "- small-sdk: `request ask: driver`: no method yet" in markdown
    data = json.loads(parity.render(small.compare(sdk), "json"))
    [requests] = [item for item in data["sections"] if item["title"] == "requests"]
    assert requests["rows"][0]["cells"][1] == {
        "text": "-",
        "differs": [
            {
                "sdk": "small-sdk",
                "id": "request ask: driver",
                "kind": "request",
                "state": "request ask: its driver cannot send it",
                "message": "small-sdk: request ask: its driver cannot send it",
            }
        ],
    }
    assert [item["rule"] for item in data["findings"]] == ["SG052"]
