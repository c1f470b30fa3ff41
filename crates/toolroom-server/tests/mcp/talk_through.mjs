// The official client calls tools of another server through ours, and gets what that server said.
//
//   node talk_through.mjs ERA ORIGIN KEY
import assert from "node:assert/strict";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";

const [era, place, key] = process.argv.slice(2);
const client = new Client(
  { name: "through", version: "1.0.0" },
  { capabilities: {}, versionNegotiation: { mode: era === "legacy" ? "legacy" : { pin: "2026-07-28" } } },
);
await client.connect(
  new StreamableHTTPClientTransport(new URL(`${place}/mcp`), {
    requestInit: { headers: { authorization: `Bearer ${key}` } },
  }),
);
// The client checks structured content against the schemas it was shown.
const { tools } = await client.listTools();
const weather = tools.find((tool) => tool.name === "mcp__every__get-structured-content");
assert.ok(weather.outputSchema.properties.temperature, JSON.stringify(weather));

const call = async (name, args = {}) => {
  const result = await client.callTool({ name: `mcp__every__${name}`, arguments: args });
  assert.ok(!result.isError, JSON.stringify(result));
  return result;
};
const said = await call("echo", { message: "hi" });
assert.deepEqual(said.content, [{ type: "text", text: "Echo: hi" }]);

const pictured = await call("get-tiny-image");
assert.deepEqual(
  pictured.content.map((block) => block.type),
  ["text", "image", "text"],
);
const picture = Buffer.from(pictured.content[1].data, "base64");
assert.equal(pictured.content[1].mimeType, "image/png");
assert.equal(picture.subarray(1, 4).toString(), "PNG");

const structured = await call("get-structured-content", { location: "Chicago" });
assert.equal(typeof structured.structuredContent.temperature, "number");
assert.deepEqual(JSON.parse(structured.content[0].text), structured.structuredContent);

const links = await call("get-resource-links", { count: 2 });
assert.equal(links.content.filter((block) => block.type === "resource_link").length, 2);

for (const [kind, field] of [
  ["Text", "text"],
  ["Blob", "blob"],
]) {
  const found = await call("get-resource-reference", { resourceType: kind, resourceId: 1 });
  const { resource } = found.content.find((block) => block.type === "resource");
  assert.ok(resource.uri && resource[field].length > 0, JSON.stringify(found));
}
const noted = await call("get-annotated-message", { messageType: "error", includeImage: true });
assert.equal(noted.content[0].annotations.priority, 1);
assert.equal(noted.content[1].type, "image");
await client.close();
