// The official client of MCP talks to a real server.
//
//   node talk.mjs ERA WAY PLACE [KEY]
//
// WAY is `http`, with the address of the server, or `stdio`, with the program to start.
import assert from "node:assert/strict";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";

const [era, way, place, key] = process.argv.slice(2);
const notes = process.env.NOTES;

const client = new Client(
  { name: "talk", version: "1.0.0" },
  {
    capabilities: { elicitation: {} },
    versionNegotiation: { mode: era === "legacy" ? "legacy" : { pin: "2026-07-28" } },
  },
);
client.setRequestHandler("elicitation/create", ({ params }) => {
  assert.match(params.message, /publish_note/);
  return { action: "accept", content: { answer: "once" } };
});

const names = ["PATH", "HOME", "TOOLROOM_HOME"].filter((name) => name in process.env);
const env = Object.fromEntries(names.map((name) => [name, process.env[name]]));
const transport =
  way === "stdio"
    ? new StdioClientTransport({ command: place, args: ["mcp", "serve", "--fixtures"], env })
    : new StreamableHTTPClientTransport(new URL(`${place}/mcp`), {
        requestInit: { headers: { authorization: `Bearer ${key}` } },
      });
await client.connect(transport);

const { tools } = await client.listTools();
assert.equal(tools.find((tool) => tool.name === "calculator").annotations.readOnlyHint, true);
const done = await client.callTool({ name: "calculator", arguments: { expression: "17*23" } });
assert.equal(done.content[0].text, "391");
const wrong = await client.callTool({ name: "calculator", arguments: { expression: "17*" } });
assert.equal(wrong.isError, true);
const pictured = await client.callTool({ name: "test_image_content", arguments: {} });
assert.equal(pictured.content[0].mimeType, "image/png");
const told = [];
await client.callTool(
  { name: "test_tool_with_progress", arguments: {} },
  { onprogress: ({ progress }) => told.push(progress) },
);
assert.deepEqual(told, [0, 50, 100]);
const { prompts } = await client.listPrompts();
assert.ok(prompts.some((prompt) => prompt.name === "test_simple_prompt"));
const long = await client.callTool({ name: "app__repeat", arguments: { text: "a long result ", times: 5000 } });
const link = long.content.find((part) => part.type === "resource_link");
const whole = await client.readResource({ uri: link.uri });
assert.ok(whole.contents[0].text.length > 60_000);
await assert.rejects(client.callTool({ name: "nothing-like-that", arguments: {} }), /unknown tool/);
const kept = await client.callTool({ name: "app__publish_note", arguments: { path: notes, text: `${era} ${way}\n` } });
assert.ok(!kept.isError, JSON.stringify(kept));
await client.close();
