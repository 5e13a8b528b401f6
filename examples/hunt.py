"""Run one example until it fails, then print the command that explains the failure.

python examples/hunt.py inbox [--times 20] [--openai | --anthropic | --base-url URL] [--model NAME]
"""

from __future__ import annotations

import sys

from agent import next_command, once, options
from inbox_agent import AGENT as INBOX
from ops_agent import AGENT as OPS
from refund_bot import AGENT as REFUND

AGENTS = {"inbox": INBOX, "refund": REFUND, "ops": OPS}


def main() -> int:
    parser = options()
    parser.add_argument("agent", choices=AGENTS)
    parser.add_argument("--times", type=int, default=20, help="give up after this many runs (default 20)")
    chosen = parser.parse_args()
    agent = AGENTS[chosen.agent]
    for attempt in range(1, chosen.times + 1):
        print(f"run {attempt}")
        path, failed, flags = once(agent, chosen)
        if failed:
            print(f"\n{agent.bad_tool} was called in run {attempt}. To see why:\n  {next_command(agent, path, flags)}")
            return 0
    print(f"\n{agent.bad_tool} was not called in {chosen.times} runs.")
    return 1


if __name__ == "__main__":
    sys.exit(main())
