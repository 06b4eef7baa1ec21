import { isMap } from "yaml";
import { Block } from "./block.ts";
import { translateMilliseconds } from "./durations.ts";

/** The `mcp_servers` block of an agent. */
export function translateServers(agent: Block): void {
  const servers = agent.block("mcp_servers");
  for (const name of servers?.keys ?? []) {
    const server = servers?.block(name);
    if (server) translateServer(server);
  }
}

function translateServer(server: Block): void {
  if (server.text("type") === "stdio") server.drop("ignored", "type", "`command` says it");
  if (server.has("url") && !server.has("type")) {
    server.report("renamed", "url", "a server with a `url` has `type: http` here");
    server.set("type", "http");
  }
  if (server.has("command") && server.value("command") === null) server.remove("command");
  translateMilliseconds(server, "timeout");
  server.rename("alwaysLoad", "always_load");
}

/** `{ type: local, path, skipMcpDiscovery }` is a path here: MCP servers of plugins do not start. */
export function translatePlugins(agent: Block): void {
  const plugins = agent.list("plugins");
  for (const [index, item] of (plugins?.items ?? []).entries()) {
    if (plugins === undefined || !isMap(item)) continue;
    const plugin = new Block(item, [...agent.path, "plugins", index], agent.translation);
    const path = plugin.text("path");
    if (path === undefined) continue;
    const message = "a plugin is a path here; write its MCP servers under `mcp_servers`";
    agent.translation.report("renamed", item, plugin.path, message);
    plugins.items[index] = agent.translation.document.createNode(path);
  }
}
