// An agent as the MCP project's own SDK makes it. It writes one JSON line for each
// step; the test answers what is asked in between.
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";

const [command, home, api, host] = process.argv.slice(2);
const say = (step, facts = {}) => process.stdout.write(JSON.stringify({ step, ...facts }) + "\n");

const transport = new StdioClientTransport({ command, args: ["mcp", "--home", home], stderr: "pipe" });
transport.stderr.on("data", (data) => say("stderr", { text: String(data) }));
const client = new Client({ name: "typescript-sdk", version: "1.0.0" });
client.onerror = (error) => say("transport error", { message: String(error) });
await client.connect(transport);
say("connected", { server: client.getServerVersion().name, tools: !!client.getServerCapabilities().tools });

// Listing makes the client validate every later result against the output schemas.
const { tools } = await client.listTools();
say("listed", { names: tools.map((t) => t.name).sort(), schemas: tools.every((t) => t.inputSchema && t.outputSchema) });

const limits = { timeout: 60000, resetTimeoutOnProgress: true };
const call = (name, args, options = {}) => client.callTool({ name, arguments: args }, undefined, { ...limits, ...options });
const told = (r) => ({ isError: !!r.isError, result: r.structuredContent });

say("targets", told(await call("list_targets", {})));

let progress = 0;
const get = call("http_request", { method: "GET", url: api + "/v1/items" }, { onprogress: () => { progress++; say("progress"); } });
say("get sent");
say("get", { ...told(await get), progress });

say("refused", told(await call("http_request", { method: "GET", url: api + "/v1", nosuch: 1 })));
say("unknown host", told(await call("ssh_exec", { host: "nosuch", command: "true" })));

const denied = call("http_request", { method: "DELETE", url: api + "/v1/items" });
say("delete sent");
say("delete", told(await denied));

const ssh = call("ssh_exec", { host, argv: ["sh", "-c", "echo from afar; exit 7"] });
say("ssh sent");
say("ssh", told(await ssh));

const controller = new AbortController();
const aborted = call("http_request", { method: "POST", url: api + "/v1/items", body: "x" }, { signal: controller.signal, onprogress: () => controller.abort("user") });
try {
  say("aborted", told(await aborted));
} catch (error) {
  say("aborted", { rejected: true });
}

await client.ping();
say("ping");
await client.close();
say("closed");
