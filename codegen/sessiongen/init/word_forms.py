"""Compares words of names in different forms: `move` and `moved`, `user` and `users`."""

from __future__ import annotations

from functools import lru_cache

# Past tenses that are not made with -ed.
_IRREGULAR: dict[str, str] = {
    pair.partition("/")[0]: pair.partition("/")[2]
    for pair in (
        "left/leave sent/send got/get found/find ran/run began/begin begun/begin written/write "
        "wrote/write done/do gone/go made/make taken/take took/take given/give gave/give "
        "chosen/choose broken/break held/hold told/tell said/say bought/buy paid/pay sold/sell "
        "won/win lost/lose brought/bring built/build bound/bind heard/hear kept/keep known/know "
        "led/lead met/meet spoken/speak spent/spend stood/stand thrown/throw drawn/draw "
        "driven/drive fed/feed frozen/freeze hidden/hide shown/show withdrawn/withdraw "
        "undone/undo redone/redo rebuilt/rebuild unbound/unbind resent/resend rewound/rewind"
    ).split()
}


def alike(first: str, second: str) -> bool:
    """Whether two words are forms of one word."""
    return first == second or not _forms(first).isdisjoint(_forms(second))


def is_past(word: str) -> bool:
    """Whether a word is probably a verb in the past tense."""
    return word in _IRREGULAR or (
        len(word) > 4 and word.endswith("ed") and not word.endswith("eed")
    )


@lru_cache(maxsize=4096)
def _forms(word: str) -> frozenset[str]:
    """Returns a word and the words of which it may be the past tense or the plural."""
    forms = {word, _IRREGULAR.get(word, word)}
    if word.endswith("ied") and len(word) > 4:
        forms.add(word[:-3] + "y")
    if word.endswith("ed") and len(word) > 3:
        forms |= {word[:-1]} if word.endswith("eed") else {word[:-1], word[:-2]}
        if len(word) > 5 and word[-3] == word[-4]:
            forms.add(word[:-3])
    if word.endswith("ies") and len(word) > 4:
        forms.add(word[:-3] + "y")
    if word.endswith("es") and len(word) > 4:
        forms.add(word[:-2])
    if word.endswith("s") and not word.endswith("ss") and len(word) > 3:
        forms.add(word[:-1])
    return frozenset(forms)
