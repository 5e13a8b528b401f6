"""Which names stand for secrets: keys of objects, environment variables, parameters, headers."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

_SECRET: Final = re.compile(
    r"(?:^|_)(?:(?:pg|db|my|root|user|admin|redis)?password|passwd|passphrase|passcode|pwd|secret|secrets|api_?key"
    r"|access_key|private_?key|secret_?key|signing_key|encryption_key|account_key|session_key|ssh_key|authorization"
    r"|auth|credential|credentials|cookie|cookies|token|jwt|csrf|xsrf|csrftoken|session_?id)$"
    # `pass` alone counts tests; behind the name of what is logged into it is a password.
    r"|(?:^|_)(?:db|database|user|usr|smtp|mail|email|ftp|sftp|ssh|mysql|pg|postgres|postgresql|redis|mongo|mongodb"
    r"|rabbitmq|amqp|admin|root|login|auth|http|https|proxy|basic|sudo|ldap|wifi|app|api|svc|service|keystore|cert"
    r"|jenkins|docker|registry|git|vpn|imap|account|client|server)_?pass$"
)
_NOT_SECRET: Final = re.compile(
    # Cursors of paging, and the special tokens of a model's vocabulary.
    r"(?:^|_)(?:next|page|continuation|sync|pagination|eos|bos|pad|unk|stop|cls|sep|mask|first|last|per)(?:_\w+)?_token$"
)
_PASSWORD: Final = re.compile(r"password$|passwd$|passphrase$|passcode$|pwd$|pass$")
_CAMEL: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_LONGEST: Final = 60


def kind_of(name: str) -> str:
    """A name in one spelling: `X-Api-Key`, `xApiKey` and `x_api_key` are one."""
    return re.sub(r"[^a-z0-9]+", "_", _CAMEL.sub("_", name).lower()).strip("_")


def names_secret(name: str) -> bool:
    """True when what stands under the name is not to be written."""
    return len(name) <= _LONGEST and _short_name_is_secret(name)


def names_password(name: str) -> bool:
    """True when it is a secret that people choose, which can look like anything."""
    return names_secret(name) and _PASSWORD.search(kind_of(name)) is not None


@lru_cache(maxsize=4096)
def _short_name_is_secret(name: str) -> bool:
    kind = kind_of(name)
    return _SECRET.search(kind) is not None and _NOT_SECRET.search(kind) is None
