import runtape

with runtape.record(name="by hand") as rec:
    request = rec.log_llm_request(
        provider="mine",
        api="chat.completions",
        model="in-house",
        messages=[{"role": "user", "content": "Is the shop open?"}],
    )
    rec.log_llm_response(request, text="Yes, until six.")
    rec.note("the answer was shown", channel="web")
