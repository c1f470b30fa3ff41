"""A minimal MCP server with one tool, `echo {text}`, on the official Python SDK: `http`, or `stdio`."""

import json
import socket
import sys

import uvicorn
from mcp.server import MCPServer

server = MCPServer("peer", log_level="ERROR")


@server.tool(structured_output=False)
async def echo(text: str) -> str:
    """Return the text."""
    return text


if sys.argv[1] == "stdio":
    server.run()
else:
    listener = socket.create_server(("127.0.0.1", 0), backlog=128)
    port = listener.getsockname()[1]
    print(json.dumps({"url": f"http://127.0.0.1:{port}"}), flush=True)
    app = server.streamable_http_app(json_response=True)
    uvicorn.Server(uvicorn.Config(app, log_level="error", access_log=False)).run(sockets=[listener])
