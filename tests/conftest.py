"""What every test shares."""

from __future__ import annotations

from hypothesis import settings

# Time limits make a suite flake on a busy machine; how long things take is measured elsewhere.
settings.register_profile("runtape", deadline=None)
settings.load_profile("runtape")
