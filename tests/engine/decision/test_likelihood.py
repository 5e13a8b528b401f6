from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from token_model import OPENING, TokenModel, dumped, shown

from runtape.decision.likelihood import Choice, Likelihood, NotReadable, likelihood, opening_of
from runtape.decision.sampling import Sampling, sampling_of
from runtape.wire.logprobs import asking_for_logprobs, tokens_of

NAMES = ["get", "get_user", "get_users", "get_order", "delete", "delete_all", "archive_email", "forward_email"]
CLOSE = 1e-9


def read(model: TokenModel, tool: str, temperature: float = 1.0, most: int = 99, **how: float) -> Likelihood:
    tokens = tokens_of(dumped(model.likeliest(most)))
    choice = Choice(tool, tuple(model.chances), model.forced, Sampling(temperature, **how))
    return likelihood(tokens, choice, opening_of(tokens, choice))


@st.composite
def models(draw: st.DrawFn, *, listed: int = 20, junk: float = 0.0, forced: bool | None = None) -> TokenModel:
    names = draw(st.lists(st.sampled_from(NAMES), min_size=2, max_size=6, unique=True))
    weights = draw(st.lists(st.integers(1, 1000), min_size=len(names), max_size=len(names)))
    forced = draw(st.booleans()) if forced is None else forced
    in_text = 0 if forced else draw(st.integers(0, max(weights) // 4))
    total = sum(weights) + in_text
    return TokenModel({n: w / total for n, w in zip(names, weights, strict=True)}, forced, junk, listed)


@given(models(), st.sampled_from([0.3, 0.8, 1.0]), st.data())
def test_the_chance_that_is_read_holds_that_of_the_model_at_the_recorded_temperature(model, temperature, data):
    tool = data.draw(st.sampled_from(sorted(model.chances)))

    found = read(model, tool, temperature)

    assert found.low - CLOSE <= model.truth(tool, temperature) <= found.high + CLOSE


@given(models(), st.sampled_from([0.3, 0.8, 1.0, 1.5]))
def test_it_is_exact_for_the_tool_that_the_likeliest_reply_calls(model, temperature):
    assume(not any(one != other and other.startswith(one) for one in model.chances for other in model.chances))
    tool = model.called("".join(token["token"] for token in model.likeliest()))

    found = read(model, tool, temperature)

    assert found.width <= 1e-6
    assert found.value == pytest.approx(model.truth(tool, temperature), abs=1e-6)


@given(models(listed=2), st.sampled_from([0.8, 1.0]), st.data())
def test_tokens_that_are_not_listed_widen_the_interval_and_do_not_move_it_off(model, temperature, data):
    tool = data.draw(st.sampled_from(sorted(model.chances)))

    found = read(model, tool, temperature)

    assert found.low - CLOSE <= model.truth(tool, temperature) <= found.high + CLOSE


@given(models(junk=0.3, forced=True), st.data())
def test_a_token_that_names_no_tool_is_left_out_where_the_api_forces_a_call(model, data):
    tool = data.draw(st.sampled_from(sorted(model.chances)))

    found = read(model, tool)

    assert found.low - CLOSE <= model.truth(tool) <= found.high + CLOSE


def test_names_that_share_their_first_tokens_are_told_apart_by_a_later_one():
    model = TokenModel({"get_user": 0.1, "get_order": 0.6, "delete": 0.3}, forced=True)

    assert [round(read(model, tool).value, 6) for tool in model.chances] == [0.1, 0.6, 0.3]


def test_names_that_share_a_token_off_the_path_leave_the_chance_open_by_their_sum():
    model = TokenModel({"archive_email": 0.7, "get_user": 0.2, "get_order": 0.1}, forced=True)

    found = read(model, "get_user")

    assert (found.low, found.high) == (pytest.approx(0.0), pytest.approx(0.3))


def test_an_answer_in_text_is_a_chance_against_the_tool():
    model = TokenModel({"archive_email": 0.25, "forward_email": 0.5})

    assert read(model, "forward_email").value == pytest.approx(0.5)


def test_a_context_whose_likeliest_reply_is_text_has_at_most_the_chance_of_a_call():
    model = TokenModel({"archive_email": 0.05, "forward_email": 0.15})
    choice = Choice("forward_email", tuple(model.chances), forced=False)

    found = likelihood(tokens_of(dumped(model.likeliest())), choice, "".join(OPENING))

    assert (found.low, found.high) == (0.0, pytest.approx(0.2))


def test_at_temperature_0_the_likeliest_tool_is_certain():
    model = TokenModel({"archive_email": 0.4, "forward_email": 0.6}, forced=True)

    assert [read(model, tool, 0.0).value for tool in model.chances] == [0.0, 1.0]


def test_top_p_and_top_k_and_min_p_cut_what_the_server_would_never_draw():
    model = TokenModel({"archive_email": 0.1, "forward_email": 0.9}, forced=True)

    for cut in ({"top_p": 0.8}, {"top_k": 1}, {"min_p": 0.2}):
        assert read(model, "forward_email", **cut).value == pytest.approx(1.0)


@pytest.mark.parametrize(
    "opening",
    [
        ("<tool_call>", "\n", '{"name": "'),
        ("", "[TOOL_CALLS]", '[{"name": "'),
        (" to", "=functions", "."),
        ("<tool_call>\n", "<function", "="),
    ],
)
def test_calls_are_found_in_the_spelling_of_any_model(opening):
    model = TokenModel({"archive_email": 0.2, "forward_email": 0.8}, forced=True, opening=opening)

    assert read(model, "archive_email").value == pytest.approx(0.2)


def test_a_reply_that_reasons_before_it_calls_is_not_read():
    model = TokenModel({"forward_email": 1.0}, opening=("The", " mail", " says", " so", ".", '{"name": "'))

    with pytest.raises(NotReadable, match="writes text before"):
        read(model, "forward_email")


def test_a_reply_without_token_probabilities_is_not_read():
    choice = Choice("forward_email", ("forward_email",), forced=True)

    for body in ({"choices": [{"logprobs": None}]}, {"choices": [{"logprobs": {"content": None}}]}, {}, "x", None):
        with pytest.raises(NotReadable, match="sends no log-probabilities"):
            opening_of(tokens_of(body), choice)


def test_a_reply_cut_before_the_name_is_not_read():
    with pytest.raises(NotReadable, match="names no tool"):
        read(TokenModel({"forward_email": 1.0}, forced=True), "forward_email", most=3)


def test_entries_that_are_no_tokens_are_not_taken_for_any():
    content = [{"token": 5, "logprob": "x", "top_logprobs": [None, {"token": "a"}, shown("b", 0.5)]}, "y"]

    (token,) = tokens_of(dumped(content))

    assert [(other.text, round(other.logprob, 3)) for other in token.alternatives] == [("b", -0.693)]


def test_the_request_keeps_the_context_and_asks_for_one_short_greedy_reply():
    body = {"model": "m", "messages": [], "temperature": 0.7, "n": 4, "max_completion_tokens": 900, "x": 1}

    asked = asking_for_logprobs(body, 30)

    assert asked == {
        "model": "m",
        "messages": [],
        "temperature": 0,
        "max_completion_tokens": 30,
        "x": 1,
        "logprobs": True,
        "top_logprobs": 20,
    }
    assert sampling_of(body) == Sampling(0.7)
