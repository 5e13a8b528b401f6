from __future__ import annotations

import pytest

from runtape.errors import BadModel, EndpointNotAllowed
from runtape.sample.endpoint import endpoint_for
from runtape.sample.http_models import HttpModel
from runtape.wire.values import Request

OPENAI = {"OPENAI_API_KEY": "sk-openai"}
BOTH = {**OPENAI, "ANTHROPIC_API_KEY": "sk-ant"}


def recorded(endpoint: str | None, api: str = "chat.completions", provider: str = "openai") -> Request:
    return Request(provider, api, endpoint, {"model": "m"})


CLAUDE = ("messages", "anthropic")


@pytest.mark.parametrize(
    ("request_", "url", "key"),
    [
        (recorded("https://api.openai.com/v1"), "https://api.openai.com/v1", "sk-openai"),
        (recorded("https://api.openai.com:443/v1/"), "https://api.openai.com:443/v1", "sk-openai"),
        (recorded(None), "https://api.openai.com/v1", "sk-openai"),
        (recorded("https://api.anthropic.com", *CLAUDE), "https://api.anthropic.com", "sk-ant"),
        (recorded(None, *CLAUDE), "https://api.anthropic.com", "sk-ant"),
        # Anthropic's server also speaks the API of OpenAI; the key it may see is still its own.
        (recorded("https://api.anthropic.com/v1"), "https://api.anthropic.com/v1", "sk-ant"),
    ],
)
def test_a_providers_own_host_gets_its_own_key(request_: Request, url: str, key: str) -> None:
    endpoint = endpoint_for(request_, environ=BOTH)
    assert (endpoint.url, endpoint.key) == (url, key)


@pytest.mark.parametrize("host", ["127.0.0.1:8080", "localhost:11434", "[::1]:1", "127.9.9.9"])
def test_a_recorded_server_on_this_machine_gets_no_key(host: str) -> None:
    endpoint = endpoint_for(recorded(f"http://{host}/v1"), environ=BOTH)
    assert (endpoint.url, endpoint.key, endpoint.local) == (f"http://{host}/v1", None, True)


@pytest.mark.parametrize(
    "url",
    [
        "https://evil.example/v1",
        "https://api.openai.com.evil.example/v1",
        "https://api.openai.com@evil.example/v1",
        "https://evil@api.openai.com/v1",
        "http://api.openai.com/v1",
        "https://api.openai.com:8443/v1",
        "https://localhost.evil.example/v1",
        "http://127.0.0.1.evil.example/v1",
        "http://127.0.0.1@evil.example/v1",
        "http://0.0.0.0:80/v1",
        "http://169.254.169.254/latest",
        "http://192.168.1.5/v1",
    ],
)
def test_any_other_recorded_address_is_refused_with_what_to_pass(url: str) -> None:
    for environ in ({}, BOTH, {**BOTH, "OPENAI_BASE_URL": "https://gateway.example/v1"}):
        with pytest.raises(EndpointNotAllowed, match="--base-url"):
            endpoint_for(recorded(url), environ=environ)


@pytest.mark.parametrize("base", ["http://127.0.0.1:2375", "https://api.openai.com", "http://[::1]:80"])
@pytest.mark.parametrize(
    "more",
    [
        "/containers/prune?x=",
        "/containers/prune#",
        "/containers/prune#x",
        "/v1?x",
        "/v1;x=1",
        "/v1/../admin",
        "/./v1",
        "/..",
        "/v1/%2e%2e/admin",
        "/v1%3Fx=",
        "//evil.example/v1",
        "/v1\\admin",
        "/v1/a b",
        "/v1/\u202e",
        "?x=",
    ],
)
def test_a_recorded_address_that_could_lead_past_the_api_is_refused(base: str, more: str) -> None:
    if more.endswith("#"):  # nothing behind it: it goes with the address made anew
        assert endpoint_for(recorded(base + more), environ=BOTH).url == base + more[:-1]
        return
    with pytest.raises(EndpointNotAllowed, match="--base-url"):
        endpoint_for(recorded(base + more), environ=BOTH)
    assert endpoint_for(recorded(base + more), base + more, BOTH).named, "the user may name it"


@pytest.mark.parametrize("user", ["me@", "me:secret@", ":secret@"])
def test_a_recorded_address_with_credentials_is_refused(user: str) -> None:
    with pytest.raises(EndpointNotAllowed, match="--base-url"):
        endpoint_for(recorded(f"http://{user}127.0.0.1:8080/v1"), environ=BOTH)


@pytest.mark.parametrize("path", ["", "/", "/v1", "/v1/", "/openai/v1.0/my-model_2~a", "/.hidden/v1", "/a..b/..."])
def test_a_recorded_address_with_a_plain_path_is_asked(path: str) -> None:
    endpoint = endpoint_for(recorded(f"http://127.0.0.1:8080{path}"), environ=BOTH)
    assert endpoint.url == f"http://127.0.0.1:8080{path}".rstrip("/")


@pytest.mark.parametrize(
    "url", ["ftp://api.openai.com", "api.openai.com/v1", "http://", "http://[::1", "http://a:99999", ""]
)
def test_an_address_that_is_no_url_is_refused(url: str) -> None:
    with pytest.raises(BadModel, match="not an http or https address"):
        endpoint_for(recorded(url), environ=BOTH)


def test_an_address_that_the_user_names_wins_and_may_have_the_key() -> None:
    for request in (recorded("https://evil.example/v1"), recorded("http://127.0.0.1:1/v1"), recorded(None)):
        by_argument = endpoint_for(request, "https://gw.example/v1/", {**BOTH, "RUNTAPE_BASE_URL": "https://other/v1"})
        by_variable = endpoint_for(request, None, {**BOTH, "RUNTAPE_BASE_URL": "https://gw.example/v1"})
        assert by_argument == by_variable
        assert (by_argument.url, by_argument.key) == ("https://gw.example/v1", "sk-openai")


def test_the_sdks_variable_stands_for_the_provider_and_redirects_nothing_else() -> None:
    environ = {**BOTH, "OPENAI_BASE_URL": "http://127.0.0.1:9/v1"}
    assert endpoint_for(recorded(None), environ=environ).url == "http://127.0.0.1:9/v1"
    assert endpoint_for(recorded("https://api.openai.com/v1"), environ=environ).url == "http://127.0.0.1:9/v1"
    assert endpoint_for(recorded("http://127.0.0.1:9/v1/"), environ=environ).key == "sk-openai", "the user named it"
    assert endpoint_for(recorded("http://127.0.0.1:8/v1"), environ=environ).key is None
    assert (
        endpoint_for(recorded("https://api.anthropic.com", *CLAUDE), environ=environ).url == "https://api.anthropic.com"
    )


def test_a_provider_without_a_key_names_the_variable() -> None:
    with pytest.raises(BadModel, match="OPENAI_API_KEY is not set"):
        endpoint_for(recorded("https://api.openai.com/v1"), environ={"ANTHROPIC_API_KEY": "k"})
    with pytest.raises(BadModel, match="ANTHROPIC_API_KEY is not set"):
        endpoint_for(recorded(None, *CLAUDE), environ=OPENAI)


def test_a_named_server_needs_no_key() -> None:
    assert endpoint_for(recorded(None), "http://192.168.1.5:11434/v1", {}).key is None


def test_a_call_without_address_of_an_unknown_provider_asks_for_one() -> None:
    with pytest.raises(BadModel, match="'acme' was recorded without an address"):
        endpoint_for(recorded(None, provider="acme"), environ=BOTH)


def test_a_key_with_a_line_end_is_trimmed_and_one_with_a_line_inside_is_refused() -> None:
    assert endpoint_for(recorded(None), environ={"OPENAI_API_KEY": "sk-1\n"}).key == "sk-1"
    with pytest.raises(BadModel, match="OPENAI_API_KEY") as refusal:
        endpoint_for(recorded(None), environ={"OPENAI_API_KEY": "sk-1\nsk-2"})
    assert "sk-1" not in str(refusal.value)


def test_an_endpoint_never_shows_its_key() -> None:
    assert "sk-openai" not in repr(endpoint_for(recorded(None), environ=OPENAI))


SECRET = "s3cret"


@pytest.mark.parametrize(
    "url",
    [
        f"http://user:{SECRET}@127.0.0.1:1/v1",
        f"http://:{SECRET}@127.0.0.1:1/v1",
        f"http://{SECRET}@127.0.0.1:1/v1",
        f"http://a@b:{SECRET}@127.0.0.1:1/v1",
        f"http://127.0.0.1:1/v1?key={SECRET}",
        f"http://127.0.0.1:1/v1#{SECRET}",
    ],
)
def test_what_is_secret_in_an_address_is_neither_shown_nor_kept(url: str) -> None:
    endpoint = endpoint_for(recorded(None), url, environ=OPENAI)
    assert endpoint.shown == "http://127.0.0.1:1/v1"
    assert SECRET not in HttpModel("chat.completions", endpoint).identity


@pytest.mark.parametrize(
    "url", [f"http://user:{SECRET}@127.0.0.1:999999/v1", f"http://u:{SECRET}/x@h:x/v1", f"h?key={SECRET}"]
)
def test_what_is_no_address_is_told_without_its_secrets_and_in_few_words(url: str) -> None:
    for given in (url, "x" * 100_000):
        with pytest.raises(BadModel) as refused:
            endpoint_for(recorded(None), given, environ=OPENAI)
        assert SECRET not in str(refused.value)
        assert len(str(refused.value)) < 500


def test_servers_that_a_query_tells_apart_do_not_share_replies() -> None:
    urls = ["http://127.0.0.1:1/v1", "http://127.0.0.1:1/v1?version=1", "http://127.0.0.1:1/v1?version=2"]
    models = [HttpModel("responses", endpoint_for(recorded(None), url, environ=OPENAI)) for url in urls]
    assert len({model.identity for model in models}) == 3
