"""The list of commands in `docs/cli.md`, made from what the commands say of themselves.

    python -m runtape.cli.manual [--check]

Run it in the project's folder. It writes what has changed; with `--check` it writes nothing and fails instead.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from .commands import COMMANDS, loaded

PAGE = Path("docs/cli.md")
_BEGIN, _END = "<!-- commands -->", "<!-- /commands -->"


def leaves() -> Iterator[tuple[str, ...]]:
    """Every command line that is no group of others, such as `("cache", "show")`, in order."""
    for name in COMMANDS:
        below = getattr(loaded(name), "commands", None)
        yield from [(name, inner) for inner in below] if below else [(name,)]


def found(command: tuple[str, ...]) -> Any:
    """The command of that line, as the library holds it."""
    one: Any = loaded(command[0])
    for name in command[1:]:
        one = one.commands[name]
    return one


def section(command: tuple[str, ...]) -> str:
    """One command as Markdown: what it does, its example, its arguments and options.

    Made from the parts of the command and not from its `--help`, whose layout is that of whatever version of the
    library is installed.
    """
    one = found(command)
    name = f"runtape {' '.join(command)}"
    arguments = [parameter for parameter in one.params if parameter.param_type_name == "argument"]
    flags = [parameter for parameter in one.params if parameter.param_type_name == "option"]
    usage = " ".join([name, *(str(argument.metavar) for argument in arguments), *(["[OPTIONS]"] if flags else [])])
    about, _, example = str(one.help).partition("Example: ")
    paragraphs = (" ".join(paragraph.split()) for paragraph in about.strip().split("\n\n"))
    listed = [f"- `{argument.metavar}`: {argument.help}" for argument in arguments]
    listed += [f"- `{_spelled(flag)}`: {flag.help}{_default(flag)}" for flag in flags]
    return "\n\n".join(
        [
            f"## {name}",
            *paragraphs,
            f"    {usage}",
            f"Example: `{example.strip()}`",
            *(["\n".join(listed)] if listed else []),
        ]
    )


def _spelled(flag: Any) -> str:
    """A flag as it is written, with what has to follow it."""
    names = ", ".join([*flag.opts, *flag.secondary_opts])
    if flag.is_flag:
        return names
    return f"{names} {flag.metavar}"


def _default(flag: Any) -> str:
    shown = flag.default
    told = shown is not None and flag.show_default and not flag.is_flag and "[default" not in str(flag.help)
    return f" [default: {shown}]" if told else ""


def commands() -> str:
    """A table of contents, then every command."""
    contents = [f"[{name}](#runtape-{'-'.join(command)})" for command in leaves() for name in [" ".join(command)]]
    return "\n\n".join([" · ".join(contents), *(section(command) for command in leaves())])


def filled(page: str) -> str:
    """The page with its list of commands as it is now.

    Raises:
        ValueError: the page does not say where the list goes.
    """
    before, begin, rest = page.partition(_BEGIN)
    _, end, after = rest.partition(_END)
    if not begin or not end:
        raise ValueError(f"the page has no place for the commands: {_BEGIN} and {_END}")
    return f"{before}{_BEGIN}\n\n{commands()}\n\n{_END}{after}"


def main(arguments: list[str]) -> int:
    """Write the page, or with `--check` say whether it is as it should be."""
    old = PAGE.read_text(encoding="utf-8")
    new = filled(old)
    if arguments == ["--check"]:
        if old != new:
            sys.stderr.write(f"{PAGE} is not what the commands say; run python -m runtape.cli.manual\n")
        return int(old != new)
    PAGE.write_text(new, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
