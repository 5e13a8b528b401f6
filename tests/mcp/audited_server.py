"""`runtape-mcp` with every file, child, connection and unsafe loader of it written down.

    python audited_server.py LOG ARGUMENTS...

Each line of the log is a JSON list: the name of the audit event, then its arguments as texts.
"""

from __future__ import annotations

import json
import os
import sys

WATCHED = {
    "open", "sqlite3.connect", "os.mkdir", "os.rename", "os.remove", "os.link", "os.symlink",
    "os.system", "os.exec", "os.posix_spawn", "subprocess.Popen", "socket.connect",
    "pickle.find_class", "marshal.loads", "import",
}  # fmt: skip
log = os.open(sys.argv[1], os.O_WRONLY | os.O_CREAT | os.O_APPEND)


def note(event: str, arguments: tuple[object, ...]) -> None:
    if event in WATCHED:
        os.write(log, json.dumps([event, *map(str, arguments)]).encode() + b"\n")


sys.addaudithook(note)

from runtape_mcp.__main__ import main  # noqa: E402 - the hook comes first

sys.exit(main(sys.argv[2:]))
