"""A tool as this server publishes it: strict arguments, slim schemas, errors that say what to do next."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError, UnexpectedToolError
from mcp.server.mcpserver.tools.base import Tool
from mcp.types import ToolAnnotations
from pydantic import ValidationError

from runtape.errors import RuntapeError
from runtape.text import shorten, visible

from .failures import LIMIT, told
from .slim import slim_input, slim_output


class StrictTool(Tool):
    """A tool that refuses unknown arguments and explains every failure in under a thousand characters."""

    async def run(self, arguments: dict[str, Any], context: Context[Any, Any], convert_result: bool = False) -> Any:  # noqa: FBT001, FBT002 - the SDK's signature
        """Runs the tool.

        Raises:
            ToolError: the call failed in a way that the caller can read about and mend.
            UnexpectedToolError: a fault of this program; the log has it, the caller does not.
        """
        try:
            return await super().run(arguments, context, convert_result)
        except ToolError as exc:
            match exc.__cause__:
                case ValidationError() as cause if not isinstance(exc, UnexpectedToolError):
                    text = self._arguments_refused(cause)
                case RuntapeError() as cause:
                    text = told(cause)
                case ToolError() as cause if not isinstance(cause, UnexpectedToolError):
                    text = str(cause)
                case cause:
                    raise UnexpectedToolError(
                        f"{self.name} failed because of a fault in runtape-mcp. Calling it again may help; "
                        "its log on standard error says more."
                    ) from (cause or exc)
            raise ToolError(shorten(text, LIMIT)) from exc.__cause__

    def _arguments_refused(self, error: ValidationError) -> str:
        reasons: list[str] = []
        for found in error.errors(include_url=False, include_input=False)[:4]:
            where = ".".join(shorten(visible(str(part)), 40) for part in found["loc"])
            match found["type"]:
                case "extra_forbidden":
                    reasons.append(f"there is no argument {where!r}")
                case "missing":
                    reasons.append(f"{where!r} is missing")
                case _:
                    reasons.append(f"{where!r}: {shorten(visible(found['msg']), 150)}")
        takes = ", ".join(self.parameters["properties"])
        return f"{self.name} was not run: {'; '.join(reasons)}. It takes: {takes}. Call it again with these."


def published(
    function: Callable[..., Any],
    *,
    title: str,
    read_only: bool,
    idempotent: bool,
    open_world: bool,
    structured: bool = True,
    page: str | None = None,
) -> StrictTool:
    """The tool that a function makes; its docstring is what the model reads. `page` shows its answers."""
    made = StrictTool.from_function(
        function,
        title=title,
        # A docstring is wrapped and indented for people who read the source.
        description=" ".join((function.__doc__ or "").split()),
        annotations=ToolAnnotations(
            read_only_hint=read_only, destructive_hint=False, idempotent_hint=idempotent, open_world_hint=open_world
        ),
        structured_output=None if structured else False,
        meta={"ui": {"resourceUri": page}} if page else None,
    )
    assert isinstance(made, StrictTool)
    _refuse_unknown_arguments(made)
    made.parameters = slim_input(made.parameters)
    if made.fn_metadata.output_schema is not None:
        made.fn_metadata.output_schema = slim_output(made.fn_metadata.output_schema)
    return made


def _refuse_unknown_arguments(made: Tool) -> None:
    """Makes validation do what the published schema says; the SDK drops unknown arguments without a word."""
    arguments = made.fn_metadata.arg_model
    arguments.model_config["extra"] = "forbid"
    arguments.model_rebuild(force=True)
