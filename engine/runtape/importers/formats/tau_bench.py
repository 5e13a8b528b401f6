"""tau-bench and tau2 results.

Shapes: tau-bench `historical_trajectories/*.json` (https://github.com/sierra-research/tau-bench) and tau2's
`data_model/simulation.py` and `data_model/message.py` (https://github.com/sierra-research/tau2-bench). In both the user
is a second model, whose turns are given input; its own calls and tool runs are not the agent's.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from ...wire.bodies import listed, objects
from ...wire.reading import members, text_or_none
from ...wire.values import Json, JsonObject
from ..conversation import Setting, Turn, conversation, tool_call
from ..each_file import first_object, one_by_one, stem, usable
from ..imported import ImportedNote, ImportedRun, Skipped
from ..json_stream import Record
from ..moments import elapsed_ms, seconds
from ..registry import Format
from ..source import Sample, Source

_POLICY_ONLY = "system (only the policy, which is a part of it)"


def recognise(sample: Sample) -> str | None:
    """Why the values look like this format; None when they do not."""
    first = first_object(sample.values)
    if "traj" in first and "task_id" in first:
        return "`task_id` and `traj` in one object"
    info = members(first.get("info"))
    if ("simulations" in first and "info" in first) or {"agent_info", "environment_info"} <= info.keys():
        return "`info` with agent and environment, and `simulations`, as tau2 writes"
    if "task_id" in first and "messages" in first and ("termination_reason" in first or "reward_info" in first):
        return "`task_id`, `messages` and `termination_reason` in one object, a simulation of tau2"
    return None


def read(sources: Sequence[Source]) -> Iterator[ImportedRun | Skipped]:
    """See `Format`: one run per task and trial.

    Of results that are a folder, `results.json` tells of the agent and `simulations` beside it holds the runs.
    """
    about: dict[str, JsonObject] = {}
    for source in sources:
        info = members(first_object(source.sample.values).get("info"))
        if "agent_info" in info:
            about[source.name.rpartition("/")[0]] = info
    run_of = {source.name: about.get(_above(source.name), {}) for source in sources}
    yield from one_by_one(lambda source: _read_one(source, run_of[source.name]))(sources)


def _above(name: str) -> str:
    folder = name.rpartition("/")[0]
    return folder.rpartition("/")[0] if folder.endswith("/simulations") else folder


def _read_one(source: Source, info: JsonObject) -> Iterator[ImportedRun | Skipped]:
    broken: list[Skipped] = []
    yield from _runs(usable(source.records(("simulations", "tasks")), broken), stem(source.name), info)
    yield from broken


def _runs(records: Iterator[Record], name: str, info: JsonObject) -> Iterator[ImportedRun | Skipped]:
    found = False
    for record in records:
        value = members(record.value)
        if isinstance(value.get("traj"), list):
            yield _tau(record.place, value, name)
        elif isinstance(value.get("messages"), list):
            found = True
            yield from _tau2(record.place, value, members(members(record.around).get("info")) or info, name)
        elif "info" in value and ("simulations" in value or "tasks" in value):
            if not found:
                yield Skipped(record.place, "results whose simulations are in files of their own", notable=False)
        elif record.within != "tasks":
            yield Skipped(record.place, "no trajectory in it")


def _tagged(value: JsonObject, reward: Json) -> JsonObject:
    tags: JsonObject = {key: value[key] for key in ("task_id", "trial") if key in value}
    return tags if reward is None else {**tags, "reward": reward}


def _name(name: str, value: JsonObject) -> str:
    trial = value.get("trial")
    return f"{name} task {value.get('task_id')}" + (f" trial {trial}" if trial is not None else "")


def _tau(place: str, value: JsonObject, name: str) -> ImportedRun:
    turns = [Turn(f"{place}, message {index}", message) for index, message in objects(value["traj"])]
    events = conversation(turns, Setting(missing=("tools", "params", "model")))
    info = members(value.get("info"))
    task = members(info.get("task"))
    facts: JsonObject = {"expected": task.get("actions"), "instruction": task.get("instruction")}
    notes = [ImportedNote(place, "the task as the user's model was given it", facts)] if task else []
    if value.get("reward") is not None:
        about = {"reward": value["reward"], "reward_info": info.get("reward_info")}
        notes.append(ImportedNote(place, f"the run as a whole got reward {value['reward']}", about))
    return ImportedRun(_name(name, value), (*events, *notes), None, _tagged(value, value.get("reward")))


def _tau2(place: str, value: JsonObject, info: JsonObject, name: str) -> Iterator[ImportedRun | Skipped]:
    agent, world = members(info.get("agent_info")), members(info.get("environment_info"))
    policy, tools = text_or_none(world.get("policy")), _tools(world.get("tool_defs"))
    missing = [_POLICY_ONLY if policy else "system", *([] if tools else ["tools"])]
    params: JsonObject = {key: item for key, item in members(agent.get("llm_args")).items() if item is not None}
    if not agent:
        missing.append("params")
    turns = [Turn(f"{place}, policy", {"role": "system", "content": policy})] if policy else []
    for index, message in enumerate(listed(value.get("messages"))):
        at = f"{place}, message {index}"
        for told in _agent_sees(message):
            greeting = told.get("role") == "assistant" and not any(t.message["role"] == "user" for t in turns)
            if greeting:
                yield Skipped(at, "a greeting in front of the user's first message, which no model call brought", False)
            turns.append(_turn(at, told, by_model=not greeting))
    setting = Setting(model=text_or_none(agent.get("llm")), tools=tools, params=params, missing=tuple(missing))
    reward = members(value.get("reward_info"))
    notes: list[ImportedNote] = []
    if reward:
        notes.append(
            ImportedNote(place, f"the run as a whole got reward {reward.get('reward')}", {"reward_info": reward})
        )
    events = (*conversation(turns, setting), *notes)
    tags = _tagged(value, reward.get("reward"))
    if "termination_reason" in value:
        tags["termination_reason"] = value["termination_reason"]
    yield ImportedRun(_name(name, value), events, seconds(value.get("start_time")), tags)


def _tools(defined: Json) -> Json:
    """The tools in the shape of chat completions; None when the file does not keep them."""
    many = list(defined.values()) if isinstance(defined, dict) else listed(defined)
    shaped: list[Json] = []
    for tool in many:
        told = members(tool)
        if not told:
            return None
        shaped.append(told if "function" in told else {"type": "function", "function": told})
    return shaped or None


def _agent_sees(message: Json) -> Iterator[JsonObject]:
    """A message, or those that it is made of, unless it is between the user's model and its own tools."""
    told = members(message)
    several = told.get("tool_messages")
    if isinstance(several, list):
        for _, one in objects(several):
            yield from _agent_sees(one)
        return
    role = told.get("role")
    if role not in ("system", "user", "assistant", "tool") or told.get("requestor") == "user":
        return
    if role == "user" and told.get("tool_calls"):
        return
    yield told


def _turn(place: str, told: JsonObject, *, by_model: bool) -> Turn:
    message: JsonObject = {"role": told.get("role"), "content": told.get("content")}
    error = None
    if told.get("role") == "tool":
        message["tool_call_id"] = told.get("tool_call_id") or told.get("id") or ""
        error = text_or_none(told.get("content")) if told.get("error") is True else None
    calls = [
        tool_call(call.get("id"), call.get("name"), call.get("arguments"))
        for _, call in objects(told.get("tool_calls"))
        if call.get("requestor") != "user"
    ]
    if calls:
        message["tool_calls"] = [*calls]
    raw = members(told.get("raw_data"))
    started = seconds(told.get("timestamp"))
    spent = told.get("generation_time_seconds")
    took = elapsed_ms(0.0, float(spent)) if isinstance(spent, (int, float)) else None
    reply = raw if isinstance(raw.get("choices"), list) else None
    return Turn(place, message, by_model, reply, started=started, latency_ms=took, error=error)


FORMAT: Final = Format(
    "tau-bench",
    "tau-bench and tau2 results",
    "`task_id` and `traj`, or `info` and `simulations`",
    recognise,
    read,
)
