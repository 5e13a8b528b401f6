"""Secrets in running text: what is hidden, and what of a program's ordinary text is left alone."""

from __future__ import annotations

import itertools
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runtape.trace.innocent import is_innocent
from runtape.trace.redact import redact, redact_text

CANARY = "Hunter2Canary9xZ"
AWS = "IQoJb3JpZ2luX2VjEJ3" + "AbC9" * 20
HEX = "a1" * 16
ALNUM = "aB3" * 17

SECRETS = [
    ("password: hunter2!x", "hunter2!x"),
    (f"Password: {CANARY}", CANARY),
    (f"my password is {CANARY}.", CANARY),
    (f"pwd={CANARY}", CANARY),
    (f"PASSWORD='{CANARY} a b'", CANARY),
    ('export DB_PASS="p@ss w0rd!"', "w0rd"),
    ("DB_PASS=hunterx!", "hunterx"),
    ("POSTGRES_PASSWORD=letmein", "letmein"),
    ("PGPASSWORD=abcdefg psql", "abcdefg"),
    ("Cookie: sid=abc123def; theme=dark", "abc123def"),
    ("Set-Cookie: session=abcdefghi; Path=/", "abcdefghi"),
    ("postgres://user:pass@host/db", "user:pass"),
    ("postgresql+psycopg2://bob:s3cr:et@h/db", "et@"),
    ("postgres://bob:p@ss@h/db", "ss@"),
    ("redis://:passw0rd@host:6379", "passw0rd"),
    ("mongodb+srv://u:p%40ss@h", "p%40ss"),
    (f"https://x.example/?api_key={CANARY}", CANARY),
    ("https://x.example/?a=1&token=abcdefghijklmnop", "abcdefghijklmnop"),
    ("https://x.example/?access_token=abc.def.ghi&x=1", "abc.def"),
    ("https://x/?sig=AbCdEf123456789%3D&sv=2020", "AbCdEf"),
    (f"https://b.example/k?X-Amz-Signature={HEX * 2}&X-Amz-Security-Token={AWS}", HEX),
    (f"aws_session_token = {AWS}", AWS[:20]),
    (f"see {AWS} there", AWS[:20]),
    ("aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", "wJalr"),
    ("sess-abcdefghijklmnopqrstuvwx1234567890ABCD", "abcdefgh"),
    ("sk-ant-sid01-" + "abcd" * 10, "abcdabcd"),
    ("Authorization: Bearer abcdefghijklmnop", "abcdefghijklmnop"),
    ("Authorization: token abcdef123456", "abcdef123456"),
    ("-H 'authorization: Basic dXNlcjpwYXNz'", "dXNlcjpwYXNz"),
    ("X-Api-Key: abcdef123456", "abcdef123456"),
    ("eyJhbGciOiJub25lIn0.eyJzdWIiOiIxMjM0NTY3ODkwIn0.", "eyJzdWIi"),
    ("-----BEGIN PRIVATE KEY-----\nMIIEow8xAAAAAAAAbbbb\nIBAAKCccccccccdddddd", "IBAAKC"),
    ("-----BEGIN PGP PRIVATE KEY BLOCK-----\nabc\n-----END PGP PRIVATE KEY BLOCK-----", "abc"),
    (f"{{'password': '{CANARY}'}}", CANARY),
    (f"secret: {CANARY}", CANARY),
    (f"--password {CANARY}", CANARY),
    ("--api-key=abcdefgh", "abcdefgh"),
    ("curl -u bob:s3cret https://x", "s3cret"),
    ("machine x login y password zorro7", "zorro7"),
    (f"<password>{CANARY}</password>", CANARY),
    (f"'password' => '{CANARY}'", CANARY),
    ("Server=x;Password=abc!def;", "abc!def"),
    ("AccountKey=abcdefghijklmnopqrstuvwxyz0123456789/+==;Endpoint", "abcdefgh"),
    ("xapp-1-A0123-456-abcdef0123456789", "abcdef"),
    (f"SG.{'a' * 22}.{'b1' * 20}", "bbbb"),
    (f"whsec_{ALNUM}", ALNUM),
    (f"gsk_{ALNUM}", ALNUM),
    (f"lsv2_pt_{HEX}_abcdef1234", HEX),
    ("https://hooks.slack.com/services/T00000000/B00000000/" + "X" * 24, "XXXX"),
]


@pytest.mark.parametrize(("text", "secret"), SECRETS)
@pytest.mark.parametrize("around", ["{}", "before {} after", "line\n{}\nline", '{{"a": "b"}} {}'])
def test_a_secret_that_its_text_names_is_hidden(text: str, secret: str, around: str) -> None:
    hidden = redact_text(around.format(text))
    assert secret not in hidden
    assert "[redacted:" in hidden
    assert redact_text(hidden) == hidden


INNOCENT = [
    "password: str",
    "password: str | None = None",
    "password: Optional[str]",
    "password = get_password(user)",
    "token = tokens[index]",
    "self.token = token",
    "api_key=settings.api_key",
    "PASSWORD=os.environ['PASSWORD']",
    "password: required, at least 8 characters",
    "The password is in the safe.",
    "The password is base64-encoded and the token is sha256-hashed.",
    "The token is 2048 bits long; each token: 4 characters.",
    "authorization: oauth2",
    "Authorization: Bearer <token>",
    "Authorization: Bearer YOUR_API_KEY",
    "Authorization: Bearer $TOKEN",
    "export DB_PASS=$(cat pass)",
    "DB_PASS=<your password>",
    "DB_PASS=",
    "secret: see https://example.org/secret1",
    "auth: user@example.org",
    "password: ********",
    "keys: alpha1, beta2",
    "key=value1234 and monkey=banana12",
    "the secret garden 1911",
    "a cookie: 3 grams of sugar",
    'header="Set-Cookie:", sep="x"',
    'default_token="Bearer"',
    'token: "string"',
    "docker run -u 1000:1000 image",
    "https://host:8080/a@b",
    "see https://host:8080, mail a@b.example",
    "git@github.com:a/b.git",
    "session: 12 of 20",
    "pass: 3, fail: 4",
    "--token option",
    "<token>",
    "next_token=abcdef123456",
    "task-force-2026-with-many-words",
    "sess-ions-are-held-in-may-and-june",
    "eyJ is how a token begins. It goes on",
    "-----BEGIN PRIVATE KEY----- is the header of a key file",
    "-----BEGIN CERTIFICATE-----\nMIIEow\n-----END CERTIFICATE-----",
    "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    "commit 892c149a0e0c1f2d3b4a5968778695a4b3c2d1e0",
    "6ba7b810-9dad-11d1-80b4-00c04fd430c8",
]


@pytest.mark.parametrize("text", INNOCENT)
def test_ordinary_text_is_left_alone(text: str) -> None:
    assert redact_text(text) == text


@given(
    st.text(alphabet=st.characters(codec="utf-8"), min_size=1, max_size=20).map(lambda text: f"{text}Zq7"),
    st.integers(0, 4),
    st.text(max_size=10),
)
def test_json_in_strings_is_searched_at_any_depth_and_stays_json(secret: str, depth: int, other: str) -> None:
    value: Any = {"password": secret, "b": other, "c": [{"n": 1}]}
    for _ in range(depth):
        value = {"inner": json.dumps(value), "d": 2}
    found: Any = redact(value)
    for _ in range(depth):
        assert found["d"] == 2
        found = json.loads(found["inner"])
    assert found == {"password": "[redacted:password]", "b": other, "c": [{"n": 1}]}


KEY = "sk-proj-4f9aZ0b1c2d3e4f5a6b7c8d9"


@given(st.lists(st.integers(1, len(KEY) - 1), max_size=5))
def test_a_key_cut_into_pieces_is_hidden(cuts: list[int]) -> None:
    places = [0, *sorted(set(cuts)), len(KEY)]
    pieces = ["use ", *(KEY[a:b] for a, b in itertools.pairwise(places)), " now"]
    assert KEY not in "".join(map(str, redact(list(pieces))))  # type: ignore[arg-type]
    tokens: Any = {"content": [{"token": piece, "logprob": -0.1} for piece in pieces]}
    assert KEY not in "".join(str(token) for token in redact(tokens)["content"])  # type: ignore[index,call-overload]


def test_lists_of_ordinary_texts_stay_lists() -> None:
    for value in (
        ["password", "username"],
        ["token", "abc"],
        ["a", "b"],
        ["--token", "--verbose"],
        ["x"],
        [],
        [1, "a"],
    ):
        assert redact(list(value)) == value


def test_commands_and_pairs_are_searched() -> None:
    found = redact(
        [
            ["mysql", "--password", CANARY],
            ["Authorization", f"Bearer {CANARY}"],
            {"name": "Cookie", "value": f"sid={CANARY}"},
            {"key": "X-Api-Key", "value": CANARY},
        ]
    )
    assert CANARY not in json.dumps(found)
    assert redact({"name": "city", "value": "Bern"}) == {"name": "city", "value": "Bern"}


PARTS = [
    *(text for text, _ in SECRETS), CANARY, AWS, HEX, ALNUM, "password", "api_key", "Authorization", "--token", "name", "key", "value",
    "Bearer", "the weather in Bern", "order 7", "", "a",
]  # fmt: skip
VALUES = st.recursive(
    st.sampled_from(PARTS) | st.integers() | st.none(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(PARTS), inner, max_size=4),
    max_leaves=8,
)


@given(VALUES)
def test_what_is_taken_for_innocent_at_first_sight_is_left_alone_by_every_rule(value):
    if is_innocent(value):
        assert redact(value) == value


def test_a_secret_as_the_name_of_a_member_is_not_taken_for_innocent():
    assert not is_innocent({"sessions": {f"sk-proj-{ALNUM}": 1}})
