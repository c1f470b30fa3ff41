"""A server made with FastMCP: what our client has to get along with. `stdio`, or `http PORT`."""

import sys

from fastmcp import Context, FastMCP

server = FastMCP("fast")


@server.tool
def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


@server.tool
def fail() -> str:
    """Fail."""
    raise ValueError("no such thing")


@server.tool
async def steps(context: Context) -> str:
    """Tell about progress."""
    for step in range(3):
        await context.report_progress(step, 3, f"step {step}")
    return "done"


if sys.argv[1] == "stdio":
    server.run(show_banner=False)
else:
    server.run(transport="http", host="127.0.0.1", port=int(sys.argv[2]), show_banner=False)
