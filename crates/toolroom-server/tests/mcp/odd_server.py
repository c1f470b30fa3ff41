"""A server whose results are unusual: data that breaks its promise, a long text beside a large picture, a result that
names a file of somebody else. Speaks the older era over stdio; needs nothing."""

import base64
import json
import sys

PICTURE = base64.b64encode(b"\x89PNG" + b"x" * 29_996).decode()


def tool(name, **more):
    return {"name": name, "description": f"Is {name}", "inputSchema": {"type": "object"}, **more}


TOOLS = [
    tool("promises", outputSchema={"type": "object", "properties": {"count": {"type": "integer"}}, "required": ["count"]}),
    tool("long"),
    tool("names"),
    tool("quiet"),
]


def call(name, arguments):
    if name == "promises":
        return {"content": [{"type": "text", "text": "So there."}], "structuredContent": {"count": "many"}}
    if name == "long":
        picture = {"type": "image", "mimeType": "image/png", "data": PICTURE}
        return {"content": [{"type": "text", "text": "y" * 50_000}, picture]}
    if name == "names":
        stolen = {"type": "image", "mimeType": "image/png", "bytes": 1, "artifact": arguments.get("artifact")}
        return {"content": [stolen, stolen], "structuredContent": {"content": [stolen]}}
    key = base64.b64encode(b"the key is " + arguments.get("key", "").encode()).decode()
    return {"content": [{"type": "resource", "resource": {"uri": "x://y", "mimeType": "text/plain", "blob": key}}]}


for line in sys.stdin:
    message = json.loads(line)
    method, ident = message.get("method"), message.get("id")
    if ident is None:
        continue
    if method == "initialize":
        result = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}},
                  "serverInfo": {"name": "odd", "version": "1"}}
    elif method == "tools/list":
        result = {"tools": TOOLS}
    elif method == "tools/call":
        result = call(message["params"]["name"], message["params"].get("arguments") or {})
    else:
        print(json.dumps({"jsonrpc": "2.0", "id": ident, "error": {"code": -32601, "message": "no"}}), flush=True)
        continue
    print(json.dumps({"jsonrpc": "2.0", "id": ident, "result": result}), flush=True)
