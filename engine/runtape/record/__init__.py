"""Recording: what an agent sends to its model and does with its tools, into a trace file."""

from .recorder import Recorder, record

__all__ = ["Recorder", "record"]
