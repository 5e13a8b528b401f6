"""The pytest plugin: options for tests that rerun recorded decisions, and a line that says what they cost.

Installed with the package; it shows nothing in a session whose tests rerun nothing.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from ..ops.session import Session

OFFLINE = "it asks a model, and --runtape-offline is given"


def pytest_addoption(parser: pytest.Parser) -> None:
    """The options."""
    group = parser.getgroup("runtape", "reruns of recorded decisions")
    add = group.addoption
    add("--runtape-runs", type=_positive, metavar="N", help="Reruns of each test, in place of what the test says.")
    add("--runtape-budget", type=_count, metavar="N", help="Most model calls of the whole session.")
    add(
        "--runtape-model",
        metavar="SPEC",
        help="Model function for tests that name none: module:function or file.py:function.",
    )
    add("--runtape-base-url", metavar="URL", help="Server for tests that name none.")
    add("--runtape-offline", action="store_true", help="Skip tests that ask a model.")


def pytest_configure(config: pytest.Config) -> None:
    """Begin the session; nothing of the engine is loaded until a test imports it."""
    config.pluginmanager.register(_Reruns(config), "runtape-reruns")


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Share the budget out among the workers of a distributed session: together they cannot exceed it."""
    budget: int | None = node.config.getoption("--runtape-budget")
    if budget is not None:
        workers: int = node.workerinput["workercount"]
        number = int(node.workerinput["workerid"].removeprefix("gw"))
        node.workerinput["runtape_budget"] = budget // workers + (number < budget % workers)


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Take over what a worker's tests cost."""
    plugin = node.config.pluginmanager.get_plugin("runtape-reruns")
    told = getattr(node, "workeroutput", {}).get("runtape")
    if plugin is not None and told is not None:
        plugin.add(*told)


class _Reruns:
    """One session."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._session: Session | None = None
        self._tests = self._calls = self._reused = 0
        self._usd = 0.0

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Generator[None, Any, Any]:
        from ..ops.session import begin  # a session without tests loads nothing of the engine

        session = self._session = self._session or self._begun()
        calls, usd, before = session.calls, session.usd, len(session.seen)
        end = begin(session)
        try:
            return (yield)
        finally:
            end()
            seen = session.seen[before:]
            if seen or session.calls > calls:
                self.add(1, session.calls - calls, sum(found.reused for found in seen), session.usd - usd)
                item.user_properties.append(("runtape_calls", session.calls - calls))
                for found in seen:
                    item.user_properties.append(
                        ("runtape_decision", f"{found.decision}: {found.tally.kept} of {len(found)}")
                    )

    def add(self, tests: int, calls: int, reused: int, usd: float) -> None:
        """Count tests that reran something, and what they cost."""
        self._tests += tests
        self._calls += calls
        self._reused += reused
        self._usd += usd

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        output: dict[str, Any] | None = getattr(session.config, "workeroutput", None)
        if output is not None and self._tests:
            output["runtape"] = (self._tests, self._calls, self._reused, self._usd)

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        if not self._tests:
            return
        budget: int | None = self._config.getoption("--runtape-budget")
        tests = "1 test" if self._tests == 1 else f"{self._tests:,} tests"
        calls = f"{self._calls:,} model call" + ("" if self._calls == 1 else "s")
        calls += "" if budget is None else f" of at most {budget:,}"
        answers = "1 answer" if self._reused == 1 else f"{self._reused:,} answers"
        kept = f", {answers} from the reply cache" if self._reused else ""
        cost = f", {self._usd:.4f} US dollars" if self._usd else ""
        terminalreporter.write_line(f"runtape: {tests} reran decisions with {calls}{kept}{cost}")

    def _begun(self) -> Session:
        from ..ops.session import Session

        option = self._config.getoption
        worker: dict[str, Any] = getattr(self._config, "workerinput", {})
        return Session(
            runs=option("--runtape-runs"),
            model=option("--runtape-model"),
            base_url=option("--runtape-base-url"),
            budget=worker.get("runtape_budget", option("--runtape-budget")),
            before=_skip if option("--runtape-offline") else None,
        )


def _skip() -> None:
    pytest.skip(OFFLINE)


def _positive(text: str) -> int:
    number = _count(text)
    if number == 0:
        raise pytest.UsageError(f"{text!r} reruns nothing; give at least 1")
    return number


def _count(text: str) -> int:
    if not text.isdecimal():
        raise pytest.UsageError(f"{text!r} is no number of model calls")
    return int(text)
