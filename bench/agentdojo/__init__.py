"""AgentDojo's tasks and attacks, explained by this project: `python -m bench.agentdojo --help`."""
