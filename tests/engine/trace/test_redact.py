"""Secrets that are taken out of events, and what is left alone."""

from __future__ import annotations

import copy
import json
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runtape.trace.redact import Redacted, redact, redact_text, redactor
from runtape.wire.values import Json, JsonObject

CANARY = "hunter2-canary"

KEYS = [
    "password",
    "Password",
    "db_password",
    "DB-PASSWORD",
    "passwd",
    "secret",
    "client_secret",
    "clientSecret",
    "api_key",
    "apiKey",
    "apikey",
    "X-Api-Key",
    "Authorization",
    "proxy-authorization",
    "auth",
    "auth_token",
    "accessToken",
    "token",
    "refresh_token",
    "Cookie",
    "set-cookie",
    "credentials",
    "private_key",
    "aws_secret_access_key",
    "csrftoken",
    "session_id",
    "sessionid",
    "jwt",
]
HARMLESS = [
    "max_tokens",
    "max_completion_tokens",
    "token_count",
    "tokens",
    "input_tokens",
    "next_token",
    "nextPageToken",
    "page_token",
    "continuation_token",
    "eos_token",
    "key",
    "monkey",
    "author",
    "signature",
    "encrypted_content",
    "password_policy",
    "secretary",
    "tool_call_id",
    "prompt_cache_key_count",
]
SHAPES = [
    ("sk-abcdefghijklmnop1234567890ABCDEFGHIJ", "sk"),
    ("sk-proj-Ab1_cdefghijklmnop-1234567890", "sk"),
    ("sk-ant-api03-abcdefghijklmnop-1234567890", "sk_ant"),
    ("ghp_abcdefghijklmnopqrstuvwxyz0123456789", "github"),
    ("github_pat_11ABCDEFG0abcdefghijkl_mnopqrstuvwxyz", "github"),
    ("glpat-abcdefghij1234567890", "gitlab"),
    ("AKIAIOSFODNN7EXAMPLE", "aws"),
    ("AIzaSyA-abcdefghijklmnopqrstuvwxyz01234", "google"),
    ("xoxb-123456789012-abcdefghijkl", "slack"),
    ("hf_abcdefghijklmnopqrstuvwxyzABCDEFGH", "huggingface"),
    ("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N", "jwt"),
]


@pytest.mark.parametrize("key", KEYS)
def test_a_text_under_a_name_for_secrets_is_hidden(key: str) -> None:
    hidden = redact({"a": [{key: CANARY}]})
    assert CANARY not in json.dumps(hidden)
    assert "[redacted:" in json.dumps(hidden)


@pytest.mark.parametrize("key", HARMLESS)
def test_other_names_are_left_alone(key: str) -> None:
    assert redact({key: CANARY}) == {key: CANARY}


@pytest.mark.parametrize(("secret", "kind"), SHAPES)
def test_a_known_shape_of_key_is_hidden_wherever_it_stands(secret: str, kind: str) -> None:
    assert redact_text(f"use {secret}, please") == f"use [redacted:{kind}], please"
    assert redact({"notes": [f"x={secret}"]}) == {"notes": [f"x=[redacted:{kind}]"]}


@pytest.mark.parametrize(("secret", "kind"), SHAPES)
def test_a_secret_has_the_same_marker_under_a_key_and_in_text(secret: str, kind: str) -> None:
    assert redact({"api_key": secret, "note": secret}) == {
        "api_key": f"[redacted:{kind}]",
        "note": f"[redacted:{kind}]",
    }


def test_bearer_and_basic_credentials_and_passwords_in_addresses_are_hidden() -> None:
    text = "Authorization: Bearer abcDEF123456789012.x and Basic dXNlcjpwYXNzd29yZDEyMw== at https://bob:pa55@host/p"
    hidden = redact_text(text)
    assert hidden == (
        "Authorization: Bearer [redacted:bearer] and Basic [redacted:basic] at https://[redacted:url_password]@host/p"
    )


def test_a_private_key_is_hidden_whole() -> None:
    key = "-----BEGIN RSA PRIVATE KEY-----\nMIIEow\nIBAAKC\n-----END RSA PRIVATE KEY-----"
    assert redact_text(f"a {key} b") == "a [redacted:private_key] b"


@pytest.mark.parametrize(
    "text",
    [
        "sk-learn-is-a-library-for-you",
        "the task-force-of-1234567890123456 people",
        "Bearer authentication-is-described-here",
        "see https://host:8080/a@b",
        "password=get_password(user)",
        "The password is in the safe. max_tokens=12345678",
        "next_token=abcdef123456",
        '{"max_tokens": "12", "next_token": "abc"}',
        "AKIA is a prefix",
    ],
)
def test_text_that_only_looks_similar_is_left_alone(text: str) -> None:
    assert redact_text(text) == text


@given(st.text(max_size=30), st.integers(0, 2))
def test_json_in_strings_stays_json_with_all_its_other_values(secret: str, depth: int) -> None:
    value: Any = {"user": "bob", "password": secret, "n": [1, "x"]}
    text = json.dumps(value)
    for _ in range(depth):
        text = json.dumps({"inner": text})
    found = json.loads(redact_text(text))
    for _ in range(depth):
        found = json.loads(found["inner"])
    assert {**found, "password": ""} == {**value, "password": ""}
    if depth < 2 and secret.strip() and "[redacted" not in secret:
        assert found["password"] == "[redacted:password]"


def test_a_python_repr_and_an_environment_file_are_searched_as_well() -> None:
    assert (
        redact_text(str({"password": "it's", "user": "bob"})) == "{'password': \"[redacted:password]\", 'user': 'bob'}"
    )
    assert redact_text(str({"password": "pa55", "user": "bob"})) == "{'password': '[redacted:password]', 'user': 'bob'}"
    assert redact_text("DB_PASSWORD=hunter2secret\nX=1") == "DB_PASSWORD=[redacted:db_password]\nX=1"
    assert (
        redact_text("https://h/p?access_token=abc123def&x=1") == "https://h/p?access_token=[redacted:access_token]&x=1"
    )


def test_the_parameter_of_a_tool_called_password_keeps_its_schema() -> None:
    schema: JsonObject = {
        "properties": {"password": {"type": "string", "description": "the user's"}, "token": {"$ref": "#/t"}}
    }
    assert redact(schema) == schema


def test_everything_below_a_name_for_secrets_is_hidden() -> None:
    assert redact({"cookies": {"sid": CANARY, "n": [CANARY, 1, None, True]}}) == {
        "cookies": {"sid": "[redacted:cookies]", "n": ["[redacted:cookies]", 1, None, True]}
    }
    assert redact({"password": 1234, "token": 1234, "auth": None, "secret": ""}) == {
        "password": "[redacted:password]",
        "token": 1234,
        "auth": None,
        "secret": "",
    }


def test_the_tokens_of_log_probabilities_are_text_of_the_reply() -> None:
    content: list[Json] = [
        {"token": "Hello", "logprob": -0.1, "top_logprobs": [{"token": "Hi", "logprob": -2.0, "bytes": [72]}]}
    ]
    assert redact({"logprobs": {"content": content}}) == {"logprobs": {"content": content}}


values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.text(max_size=20)
    | st.sampled_from([secret for secret, _ in SHAPES]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from([*KEYS, *HARMLESS]), inner, max_size=3),
    max_leaves=10,
)


@given(values)
def test_redaction_is_done_once_shares_nothing_and_changes_no_argument(value: Any) -> None:
    before = copy.deepcopy(value)
    hidden = redact(value)
    assert value == before
    assert redact(hidden) == hidden
    if isinstance(value, dict):
        assert hidden is not value
        assert isinstance(hidden, dict)
        assert list(hidden) == list(value)


def test_a_users_function_gets_the_event_without_known_secrets() -> None:
    seen: list[Any] = []

    def hide_names(event: Any) -> Any:
        seen.append(copy.deepcopy(event))
        event["payload"]["message"] = event["payload"]["message"].replace("Ann", "X")
        return event

    done = redactor(hide_names)("log", {"message": "Ann", "password": CANARY}, {"m": 1})
    assert done == Redacted({"message": "X", "password": "[redacted:password]"}, {"m": 1})
    assert seen == [{"type": "log", "payload": {"message": "Ann", "password": "[redacted:password]"}, "meta": {"m": 1}}]


def test_a_users_function_does_not_reach_the_events_own_lists() -> None:
    payload: JsonObject = {"messages": ["a"]}

    def empty(event: Any) -> Any:
        event["payload"]["messages"].clear()
        return event

    redactor(empty)("llm_request", payload, {})
    assert payload == {"messages": ["a"]}


def _raises(_: Any) -> Any:
    raise KeyError(CANARY)


@pytest.mark.parametrize(
    ("user", "reason"),
    [
        (_raises, "the redact function raised KeyError"),
        (lambda _: None, "the redact function returned NoneType, not an event"),
        (lambda _: CANARY, "the redact function returned str, not an event"),
        (lambda _: [CANARY], "the redact function returned list, not an event"),
        (lambda _: {"type": "log"}, "the redact function returned an event without a payload"),
        (lambda _: {"payload": CANARY}, "the redact function returned an event without a payload"),
        (lambda event: {**event, "meta": CANARY}, "the redact function returned an event without a payload"),
        (lambda _: object(), "the redact function returned object, not an event"),
    ],
)
def test_a_users_function_that_fails_costs_the_content_and_nothing_else(user: Any, reason: str) -> None:
    done = redactor(user)("log", {"message": CANARY}, {"m": CANARY})
    assert done == Redacted({"dropped": reason}, {}, reason)


def test_what_a_users_function_returns_is_made_json() -> None:
    done = redactor(lambda event: {**event, "payload": cast("Json", {"s": {1}, "n": float("nan")})})("log", {}, {})
    assert done.payload == {"s": [1], "n": "<nan>"}


@pytest.mark.timeout(30)
@pytest.mark.parametrize(
    "piece",
    ["sk-", "-----BEGIN PRIVATE KEY-----", "Bearer ", "://a:", "eyJaaaaaaaaaaa.eyJ", "password=", '{"password":'],
)
def test_a_text_full_of_beginnings_of_keys_is_read_once(piece: str) -> None:
    # Reading on from each beginning to the end would take minutes here.
    text = piece * (1_000_000 // len(piece))
    assert redact_text(text)


def test_a_private_key_with_headers_is_redacted_whole() -> None:
    key = (
        "-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,AB\n\nMIIabc/+=\n"
        "-----END RSA PRIVATE KEY-----"
    )
    assert redact_text(f"x {key} y") == "x [redacted:private_key] y"


def test_a_secret_that_is_the_key_of_an_object_is_hidden_and_no_entry_is_lost():
    keys = [f"sk-proj-{letter}1b2C3d4E5f6G7h8" for letter in "ab"]
    owners = {key: {"owner": name, key: 1} for key, name in zip(keys, ("Ann", "Bo"), strict=True)}
    clean = redact({"sessions": owners, "credentials": {keys[0]: "x1y2z3"}, "plain": 1})
    assert not any(key in str(clean) for key in keys)
    assert [entry["owner"] for entry in clean["sessions"].values()] == ["Ann", "Bo"]
    assert clean["plain"] == 1
