"""The HTTP library that the installed SDKs send through: `httpx2`, or the `httpx` of older ones."""

from __future__ import annotations

import importlib
from typing import Any

import openai
import pytest

NAME = openai.DefaultHttpxClient.__mro__[1].__module__.partition(".")[0]
library: Any = importlib.import_module(NAME)
is_new = NAME == "httpx2"
only_new = pytest.mark.skipif(not is_new, reason="older SDKs have no such call, or show the error otherwise")
