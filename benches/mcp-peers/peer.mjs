// A minimal MCP server with one tool, `echo {text}`, on the official TypeScript SDK: `http` (each protocol era with the SDK
// version that is faster), or `stdio`. Run it in the folder where the SDK is installed.
import { randomUUID } from "node:crypto";
import http from "node:http";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const require = createRequire(`${process.cwd()}/`);
const load = (name) => import(pathToFileURL(require.resolve(name)));
const { McpServer } = await load("@modelcontextprotocol/sdk/server/mcp.js");
const { StdioServerTransport } = await load("@modelcontextprotocol/sdk/server/stdio.js");
const { StreamableHTTPServerTransport } = await load("@modelcontextprotocol/sdk/server/streamableHttp.js");
const modernSdk = await load("@modelcontextprotocol/server");
const { z } = await load("zod");

const echo = async ({ text }) => ({ content: [{ type: "text", text }] });
const serverInfo = { name: "peer", version: "1.0.0" };

function legacyServer() {
  const server = new McpServer(serverInfo);
  server.registerTool("echo", { description: "Return the text", inputSchema: { text: z.string() } }, echo);
  return server;
}

const handler = modernSdk.createMcpHandler(() => {
  const server = new modernSdk.McpServer(serverInfo);
  server.registerTool("echo", { description: "Return the text", inputSchema: z.object({ text: z.string() }) }, echo);
  return server;
});

async function modern(request, response, body) {
  const url = `http://${request.headers.host}${request.url}`;
  const webRequest = new Request(url, { method: request.method, headers: request.headers, body });
  const answer = await handler.fetch(webRequest);
  const bytes = Buffer.from(await answer.arrayBuffer());
  const type = answer.headers.get("content-type") ?? "application/json";
  response.writeHead(answer.status, { "content-type": type, "content-length": bytes.length }).end(bytes);
}

const sessions = new Map();

async function legacy(request, response, body) {
  const message = JSON.parse(body);
  let transport = sessions.get(request.headers["mcp-session-id"]);
  if (transport === undefined) {
    transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      enableJsonResponse: true,
      onsessioninitialized: (id) => sessions.set(id, transport),
    });
    await legacyServer().connect(transport);
  }
  await transport.handleRequest(request, response, message);
}

if (process.argv[2] === "stdio") {
  await legacyServer().connect(new StdioServerTransport());
} else {
  const server = http.createServer(async (request, response) => {
    const parts = [];
    for await (const part of request) parts.push(part);
    const body = Buffer.concat(parts).toString();
    const isModern = request.headers["mcp-protocol-version"] === "2026-07-28";
    await (isModern ? modern : legacy)(request, response, body);
  });
  server.listen(0, "127.0.0.1", () => {
    console.log(JSON.stringify({ url: `http://127.0.0.1:${server.address().port}` }));
  });
}
