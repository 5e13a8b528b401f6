"""What tokens cost.

Prices change and differ by contract, so none stands in this code: they come from a file of the user's, or from the
public table in the package `genai-prices` (the extra `prices`), whose version says how old it is. No network is asked.

The file is JSON, in US dollars for a million tokens:
`{"dated": "2026-11-01", "models": {"gpt-5-mini": {"input": 0.25, "cached": 0.025, "output": 2.0}}}`.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

from .. import canon
from ..errors import BadInput
from ..text import visible
from ..wire.values import Json, JsonObject, Request, Usage

MILLION = 1_000_000

WANTED = (
    'Write {"dated": "2026-11-01", "models": {"NAME": {"input": 0.25, "cached": 0.025, "output": 2.0}}}, in US dollars '
    "for a million tokens; cached may be left out."
)


@dataclass(frozen=True, slots=True)
class Tariff:
    """The prices of one model."""

    source: str
    """Whose prices they are, and of when."""
    usd: Callable[[Usage], float]
    """What a usage costs, in US dollars; tokens that are not known count as none."""


BATCH = 0.5
"""What the batch APIs of OpenAI and Anthropic take of the ordinary price."""

PUBLIC = "public"
"""Stands for the public table, where a file of prices could be named."""


class Prices:
    """The prices that are known."""

    def __init__(self, source: str | os.PathLike[str] | None = None, *, batch: bool = False) -> None:
        """Prices of a file, of the public table (`PUBLIC`), or none at all; with `batch` those of the batch APIs.

        Raises:
            BadInput: the file cannot be read or is of another shape, or the table is not installed.
        """
        self.given = source is not None
        self._public = source == PUBLIC
        self._file = {} if source is None or source == PUBLIC else _read(Path(source))
        self._batch = batch
        self._known: dict[str, Tariff | None] = {}
        if self._public and find_spec("genai_prices") is None:
            raise BadInput(
                "the public table of prices is not installed. Run pip install 'runtape-mcp[prices]' (Python 3.11 or "
                f"later), or give a file of prices. {WANTED}"
            )

    def of(self, request: Request) -> Tariff | None:
        """The prices of the model that a request asks; None when they are not known."""
        model = request.body.get("model")
        if not isinstance(model, str):
            return None
        if model not in self._known:
            tariff = _public(model, request.endpoint) if self._public else self._file.get(model)
            self._known[model] = _in_batches(tariff) if tariff is not None and self._batch else tariff
        return self._known[model]


def _in_batches(tariff: Tariff) -> Tariff:
    return Tariff(f"{tariff.source}, at half price in batches", lambda usage: tariff.usd(usage) * BATCH)


def _public(model: str, endpoint: str | None) -> Tariff | None:
    import genai_prices  # 1 s, and an extra: only who asks for prices should pay

    def usd_at(known_at: str | None, usage: Usage) -> float:
        counted = genai_prices.Usage(
            input_tokens=usage.input or 0, cache_read_tokens=usage.cached or 0, output_tokens=usage.output or 0
        )
        return float(genai_prices.calc_price(counted, model_ref=model, provider_api_url=known_at).total_price)

    for known_at in (endpoint, None):
        try:
            usd_at(known_at, Usage(1, 1, 0))
        except (LookupError, ValueError):
            continue
        return Tariff(f"genai-prices {version('genai-prices')}", partial(usd_at, known_at))
    return None


def _read(path: Path) -> dict[str, Tariff]:
    try:
        table = canon.loads(path.read_bytes())
    except (OSError, ValueError) as error:
        raise BadInput(f"the prices in {str(path)!r} cannot be read: {error}. {WANTED}") from error
    models = table.get("models") if isinstance(table, dict) else None
    if not isinstance(table, dict) or not isinstance(models, dict):
        raise BadInput(f"the file {str(path)!r} holds no prices. {WANTED}")
    dated = table.get("dated")
    source = f"{path.name}, {f'dated {visible(dated)}' if isinstance(dated, str) else 'not dated'}"
    return {name: _tariff(source, name, prices, path) for name, prices in models.items()}


def _tariff(source: str, name: str, prices: Json, path: Path) -> Tariff:
    if not isinstance(prices, dict):
        raise BadInput(f"the prices of {visible(name)!r} in {str(path)!r} are no object. {WANTED}")
    fresh, output = (_price(prices, key, name, path) for key in ("input", "output"))
    cached = _price(prices, "cached", name, path) if "cached" in prices else fresh

    def usd(usage: Usage) -> float:
        read = min(usage.cached or 0, usage.input or 0)
        return (((usage.input or 0) - read) * fresh + read * cached + (usage.output or 0) * output) / MILLION

    return Tariff(source, usd)


def _price(prices: JsonObject, key: str, name: str, path: Path) -> float:
    price = prices.get(key)
    if isinstance(price, bool) or not isinstance(price, (int, float)) or not 0 <= price < MILLION:
        raise BadInput(f"the price {key!r} of {visible(name)!r} in {str(path)!r} is {price!r}. {WANTED}")
    return float(price)
