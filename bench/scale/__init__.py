"""What a search costs as contexts and traces grow: `python -m bench.scale --help`."""
