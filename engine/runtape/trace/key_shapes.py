"""Keys and credentials that are known by their shape, wherever they stand in a text."""

from __future__ import annotations

import re
from typing import Final

# (a text that every match holds, the marker's name, the shape; what it matches as `keep` stays).
# A digit is asked for where letters alone make words.
# Recorded text is hostile: a shape never looks far ahead from every place where it could begin.
_SHAPES: Final = tuple(
    (hint, kind, re.compile(shape))
    for hint, kind, shape in (
        ("sk-ant-", "sk_ant", r"\bsk-ant-[A-Za-z0-9_-]{16,}"),
        ("sk-", "sk", r"\bsk-(?=[A-Za-z_-]{0,200}\d)[A-Za-z0-9_-]{16,}"),
        ("sess-", "session", r"\bsess-(?=[A-Za-z_-]{0,200}\d)[A-Za-z0-9_-]{20,}"),
        ("k_live_", "stripe", r"\b[rs]k_live_[A-Za-z0-9]{16,}"),
        ("whsec_", "webhook", r"\bwhsec_[A-Za-z0-9+/=]{24,}"),
        *((f"gh{kind}_", "github", rf"\bgh{kind}_[A-Za-z0-9]{{30,}}") for kind in "pousr"),
        ("github_pat_", "github", r"\bgithub_pat_[A-Za-z0-9_]{30,}"),
        ("glpat-", "gitlab", r"\bglpat-[A-Za-z0-9_-]{16,}"),
        ("KIA", "aws", r"\bAKIA[0-9A-Z]{16}\b"),
        ("ASIA", "aws", r"\bASIA[0-9A-Z]{16}\b"),
        # Session tokens of AWS begin with the encoded name of the service that gave them.
        ("GZXIvYXdz", "aws_session", r"\bF[wQ]oGZXIvYXdz[A-Za-z0-9+/=_-]{50,}"),
        ("IQoJb3JpZ2lu", "aws_session", r"\bIQoJb3JpZ2lu[A-Za-z0-9+/=_-]{50,}"),
        ("AIza", "google", r"\bAIza[A-Za-z0-9_-]{35}"),
        ("ya29.", "google", r"\bya29\.[A-Za-z0-9_-]{20,}"),
        ("GOCSPX-", "google", r"\bGOCSPX-[A-Za-z0-9_-]{20,}"),
        ("xox", "slack", r"\bxox[abeprs]-[A-Za-z0-9-]{10,}"),
        ("xapp-", "slack", r"\bxapp-\d-[A-Za-z0-9-]{20,}"),
        ("hooks.slack.com", "slack", r"(?P<keep>slack\.com/services/)(?:[A-Za-z0-9]{6,20}/){2}[A-Za-z0-9]{16,}"),
        ("hf_", "huggingface", r"\bhf_[A-Za-z0-9]{30,}"),
        ("gsk_", "groq", r"\bgsk_[A-Za-z0-9]{40,}"),
        ("xai-", "xai", r"\bxai-[A-Za-z0-9]{40,}"),
        ("pplx-", "perplexity", r"\bpplx-[A-Za-z0-9]{40,}"),
        ("r8_", "replicate", r"\br8_[A-Za-z0-9]{30,}"),
        ("nvapi-", "nvidia", r"\bnvapi-[A-Za-z0-9_-]{40,}"),
        ("lsv2_", "langsmith", r"\blsv2_(?:pt|sk)_[a-f0-9]{32}_[a-f0-9]{6,}"),
        ("SG.", "sendgrid", r"\bSG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{30,}"),
        ("dop_v1_", "digitalocean", r"\bdop_v1_[a-f0-9]{40,}"),
        ("dapi", "databricks", r"\bdapi[a-f0-9]{32}\b"),
        ("shpat_", "shopify", r"\bshpat_[a-f0-9]{32}\b"),
        ("ATATT3", "atlassian", r"\bATATT3[A-Za-z0-9_=-]{50,}"),
        ("hvs.", "vault", r"\bhvs\.[A-Za-z0-9_-]{20,}"),
        ("AGE-SECRET-KEY-1", "age", r"\bAGE-SECRET-KEY-1[A-Z0-9]{50,}"),
        (":AA", "telegram", r"\b\d{8,10}:AA[A-Za-z0-9_-]{30,}"),
        ("npm_", "npm", r"\bnpm_[A-Za-z0-9]{36}"),
        ("pypi-", "pypi", r"\bpypi-[A-Za-z0-9_-]{50,}"),
        # Signed and encrypted ones; the last part of an unsigned one is empty.
        ("eyJ", "jwt", r"\beyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]*(?:\.[A-Za-z0-9_-]+){0,2}"),
        ("earer ", "bearer", r"(?P<keep>earer )(?=[A-Za-z._~+/-]{0,200}\d)[A-Za-z0-9._~+/-]{16,}=*"),
        ("asic ", "basic", r"(?P<keep>asic )[A-Za-z0-9+/]{20,}={0,2}(?![A-Za-z0-9+/])"),
        ("://", "url_password", r"(?P<keep>://)[^\s/:@\"'\\]{0,100}:[^\s/\"'\\]{1,100}(?=@)"),
        ("curl", "url_password", r"(?P<keep>-u )(?=\S{0,60}:\S{0,60}[A-Za-z])[\w.@+-]{1,60}:[^\s\"'\\]{3,60}"),
        (
            "PRIVATE KEY",
            "private_key",
            (
                r"-----BEGIN [A-Z ]{0,30}PRIVATE KEY(?: BLOCK)?-----(?:[\w+/=\s\\:,.()]|-(?!----)){0,20000}"
                r"-----END [A-Z ]{0,30}PRIVATE KEY(?: BLOCK)?-----"
            ),
        ),
        # Cut off in the middle: the lines that are nothing but key.
        (
            "PRIVATE KEY",
            "private_key",
            (
                r"-----BEGIN [A-Z ]{0,30}PRIVATE KEY(?: BLOCK)?-----"
                r"(?:(?:\s|\\{1,8}[nr]){1,8}[A-Za-z0-9+/=]{16,100}){1,400}"
            ),
        ),
    )
)  # fmt: skip
_SPREAD: Final = {"PRIVATE KEY": "-----", "curl": "-u ", "earer ": "", "asic ": "", "://": "@"}
"""Hints of shapes that hold a blank, or may be shorter than the others; and what else they hold."""
_SHORTEST: Final = 15
"""Characters of the shortest match of the other shapes."""
_SIGNS: Final = "-_.:"
_HINTS: Final = {
    sign.encode(): tuple(
        dict.fromkeys(
            hint.encode()
            for hint, _, _ in _SHAPES
            if hint not in _SPREAD and sign == next((mark for mark in _SIGNS if mark in hint), "")
        )
    )
    for sign in (*_SIGNS, "")
}
"""The other hints, by a sign that they hold: data in base64 has none of these."""
_BLANKS: Final = b"\t\n\v\f\r\x1c\x1d\x1e\x1f "
_OUTLINE: Final = bytes(0x20 if byte in _BLANKS else 0x78 for byte in range(256))
"""A blank for every blank, an x for every other byte."""
_LONG: Final = b"x" * _SHORTEST


def without_keys(text: str) -> str:
    """`text` with every key of a known shape replaced by a marker that names the shape."""
    if may_hold_key(text):
        for hint, kind, shape in _SHAPES:
            if hint in text:
                text = shape.sub(rf"\g<keep>[redacted:{kind}]" if shape.groups else f"[redacted:{kind}]", text)
    return text


def may_hold_key(text: str) -> bool:
    """False when no shape can match: a cheap look."""
    if any(map(text.__contains__, _SPREAD)) and any(one in text and other in text for one, other in _SPREAD.items()):
        return True
    # Words of a language are short, so that most of a text need not be looked at.
    raw = text.encode("utf-8", "surrogatepass")
    outline = raw.translate(_OUTLINE)
    words: list[bytes] = []
    at = outline.find(_LONG)
    while at >= 0:
        end = outline.find(b" ", at)
        end = len(outline) if end < 0 else end
        words.append(raw[at:end])
        at = outline.find(_LONG, end)
    if not words:
        return False
    long = b" ".join(words)
    return any(any(map(long.__contains__, hints)) for sign, hints in _HINTS.items() if sign in long)
