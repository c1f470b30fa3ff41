"""The official client of MCP talks to a real server.

    talk.py ERA WAY PLACE [KEY]

WAY is `http`, with the address of the server, or `stdio`, with the program to start.
"""

import asyncio
import os
import sys

import httpx2
import mcp_types as types
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client

era, way, place, *shown = sys.argv[1:]


async def answers(_context, params):
    """What its user says to every question."""
    assert "publish_note" in params.message, params.message
    return types.ElicitResult(action="accept", content={"answer": "once"})


async def talk(server):
    mode = "legacy" if era == "legacy" else "2026-07-28"
    async with Client(server, mode=mode, elicitation_callback=answers, log_level=None) as client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert tools["calculator"].annotations.read_only_hint is True, tools["calculator"]
        done = await client.call_tool("calculator", {"expression": "17*23"})
        assert not done.is_error and done.content[0].text == "391", done
        wrong = await client.call_tool("calculator", {"expression": "17*"})
        assert wrong.is_error, wrong
        echoed = await client.call_tool("echo", {"text": "größe"})
        assert echoed.content[0].text == "größe", echoed
        told = []

        async def hears(progress, total, message):
            told.append((progress, total))

        await client.call_tool("test_tool_with_progress", {}, progress_callback=hears)
        assert told == [(0, 100), (50, 100), (100, 100)], told
        prompts = [prompt.name for prompt in (await client.list_prompts()).prompts]
        assert "test_simple_prompt" in prompts, prompts
        long = await client.call_tool("app__repeat", {"text": "a long result ", "times": 5000})
        link = next(part for part in long.content if part.type == "resource_link")
        whole = await client.read_resource(str(link.uri))
        assert len(whole.contents[0].text) > 60_000, len(whole.contents[0].text)
        notes = os.environ["NOTES"]
        kept = await client.call_tool("app__publish_note", {"path": notes, "text": f"{era} {way}\n"})
        assert not kept.is_error, kept


async def main():
    if way == "stdio":
        keys = ["PATH", "HOME", "TOOLROOM_HOME"]
        env = {name: os.environ[name] for name in keys if name in os.environ}
        await talk(StdioServerParameters(command=place, args=["mcp", "serve", "--fixtures"], env=env))
    else:
        headers = {"Authorization": f"Bearer {shown[0]}"}
        async with httpx2.AsyncClient(headers=headers, timeout=60) as http:
            await talk(streamable_http_client(f"{place}/mcp", http_client=http))


asyncio.run(main())
