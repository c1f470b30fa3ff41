// The client of MCP that most programs still use talks to a real server: tools change while it listens.
//
//   node talk_before.mjs URL KEY
import assert from "node:assert/strict";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { ToolListChangedNotificationSchema } from "@modelcontextprotocol/sdk/types.js";

const [url, key] = process.argv.slice(2);
const client = new Client({ name: "talk-before", version: "1.0.0" });
const changed = new Promise((resolve) => {
  client.setNotificationHandler(ToolListChangedNotificationSchema, resolve);
});
await client.connect(
  new StreamableHTTPClientTransport(new URL(`${url}/mcp`), {
    requestInit: { headers: { authorization: `Bearer ${key}` } },
  }),
);
const before = (await client.listTools()).tools;
await client.callTool({ name: "test_trigger_tool_change", arguments: {} });
await changed;
const after = (await client.listTools()).tools;
assert.equal(after.length, before.length + 1);

// A call that is given up is stopped.
const stop = new AbortController();
const given = client.callTool(
  { name: "app__countdown", arguments: { seconds: 60 } },
  undefined,
  { signal: stop.signal, onprogress: () => stop.abort() },
);
await assert.rejects(given);
await client.close();
