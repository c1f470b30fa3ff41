"""The official client of OpenAI talks to agents: `talk.py SCENARIO URL KEY`. What is not as it should be is an error."""

import json
import sys

from openai import NotFoundError, OpenAI

scenario, url, key = sys.argv[1:]
client = OpenAI(base_url=f"{url}/v1", api_key=key, max_retries=0)
WEATHER = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "description": "Weather where the user is",
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
    },
}


def words():
    assert "default" in [model.id for model in client.models.list()]
    told = [
        {"role": "system", "content": "Be short."},
        {"role": "user", "content": "My name is Ada."},
        {"role": "assistant", "content": "Hello Ada."},
        {"role": "user", "content": "What is my name?"},
    ]
    answer = client.chat.completions.create(model="default", messages=told, temperature=0.5)
    choice = answer.choices[0]
    assert choice.message.content == "You are Ada.", choice
    assert choice.finish_reason == "stop" and choice.message.tool_calls is None, choice
    assert answer.usage.total_tokens == answer.usage.prompt_tokens + answer.usage.completion_tokens
    try:
        client.chat.completions.create(model="nobody", messages=told)
        raise AssertionError("an agent that is not there answered")
    except NotFoundError as error:
        assert "nobody" in str(error), error


def pieces():
    stream = client.chat.completions.create(
        model="default",
        messages=[{"role": "user", "content": "Count."}],
        stream=True,
        stream_options={"include_usage": True},
    )
    chunks = list(stream)
    text = "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices)
    assert text == "one two three", text
    reasons = [chunk.choices[0].finish_reason for chunk in chunks if chunk.choices]
    assert reasons[-1] == "stop" and not any(reasons[:-1]), reasons
    assert chunks[0].choices[0].delta.role == "assistant"
    assert chunks[-1].usage is not None and not chunks[-1].choices


def tools():
    """One of the program's tools and one of the server's in a turn, then an answer from both."""
    messages = [{"role": "user", "content": "Weather in Oslo, and 17*23?"}]
    answer = client.chat.completions.create(model="default", messages=messages, tools=[WEATHER])
    choice = answer.choices[0]
    assert choice.finish_reason == "tool_calls", choice
    (call,) = choice.message.tool_calls
    assert call.function.name == "get_weather", call
    assert json.loads(call.function.arguments) == {"city": "Oslo"}, call
    messages.append(choice.message.model_dump(exclude_none=True))
    messages.append({"role": "tool", "tool_call_id": call.id, "content": "12 C"})
    answer = client.chat.completions.create(model="default", messages=messages, tools=[WEATHER])
    assert answer.choices[0].message.content == "12 C and 391.", answer
    messages[-1]["tool_call_id"] = "call_of_nobody"
    try:
        client.chat.completions.create(model="default", messages=messages, tools=[WEATHER])
        raise AssertionError("a result of nobody's call was taken")
    except NotFoundError as error:
        assert "call_of_nobody" in str(error), error


def tools_in_pieces():
    messages = [{"role": "user", "content": "Weather in Oslo, and 17*23?"}]
    stream = client.chat.completions.create(model="default", messages=messages, tools=[WEATHER], stream=True)
    calls, reason = {}, None
    for chunk in stream:
        choice = chunk.choices[0]
        reason = choice.finish_reason or reason
        for part in choice.delta.tool_calls or []:
            calls[part.index] = part
    assert reason == "tool_calls" and list(calls) == [0], (reason, calls)
    messages.append({"role": "tool", "tool_call_id": calls[0].id, "content": json.dumps({"celsius": 12})})
    stream = client.chat.completions.create(model="default", messages=messages, tools=[WEATHER], stream=True)
    text = "".join(chunk.choices[0].delta.content or "" for chunk in stream)
    assert text == "12 C and 391.", text


{"words": words, "pieces": pieces, "tools": tools, "tools_in_pieces": tools_in_pieces}[scenario]()
