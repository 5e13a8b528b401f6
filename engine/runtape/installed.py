"""Whether this installation can be trusted to be itself."""

from __future__ import annotations

from importlib import metadata

MINE = "runtape-mcp"
OTHER = "runtape"


def version() -> str:
    """The installed version of this project."""
    return metadata.version(MINE)


def conflict() -> str | None:
    """What to do about a second distribution that owns the same import name; None when there is none.

    Installers do not warn: whichever came last has overwritten files of the other.
    """
    try:
        other = metadata.distribution(OTHER)
    except metadata.PackageNotFoundError:
        return None
    return (
        f"The distribution {OTHER!r} {other.version} is installed beside {MINE!r}. Both own the import name 'runtape', "
        "so each overwrites files of the other. Mend it with these two commands:\n"
        f"  python -m pip uninstall -y {OTHER} {MINE}\n"
        f"  python -m pip install {MINE}"
    )
