"""`python -m runtape.cli`."""

from .main import main

main()
