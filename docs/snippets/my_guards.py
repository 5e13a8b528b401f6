def check(call, request):
    """Whether a tool call may go through: a refund only when the user speaks of one."""
    said = " ".join(message["content"] for message in request["messages"] if message["role"] == "user")
    return call["name"] != "refund" or "refund" in said
