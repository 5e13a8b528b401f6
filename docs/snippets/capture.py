import runtape
from openai import OpenAI

with runtape.record(name="captured", capture=True):
    client = OpenAI()  # anywhere in the process, in any library
    client.chat.completions.create(model="gpt-4o-mini", messages=[{"role": "user", "content": "Good morning."}])
