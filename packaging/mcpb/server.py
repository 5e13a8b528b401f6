"""Starts runtape-mcp from the bundle."""

import sys

from runtape_mcp.__main__ import main

sys.exit(main())
