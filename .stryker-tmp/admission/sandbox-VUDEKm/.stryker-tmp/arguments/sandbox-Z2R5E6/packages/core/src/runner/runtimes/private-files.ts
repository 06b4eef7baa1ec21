import { mkdirSync, writeFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { partitionServers } from "./mcp/bridged-server.ts";
import type { ExecuteOptions } from "./runtime-interface.ts";

/** Paths of the written files; a file without content is not written. */
export interface PrivateFiles {
  mcpConfig?: string;
  systemPrompt?: string;
  remove(): Promise<void>;
}

/**
 * Writes options that must not appear in a process list to files that only this user can read.
 * Returns their paths as seen by claude. `announcedServers` are the bridged servers to list in the
 * MCP configuration.
 */
export function writePrivateFiles(
  options: Pick<ExecuteOptions, "agent" | "privateDir" | "privateDirAsSeen" | "bridgedServers">,
  announcedServers: readonly string[] = [],
): PrivateFiles {
  const { agent, privateDir: folder, privateDirAsSeen = folder } = options;
  const written: string[] = [];
  const write = (name: string, text: string) => {
    const file = join(folder, name);
    if (written.length === 0) mkdirSync(folder, { recursive: true, mode: 0o700 });
    writeFileSync(file, text, { mode: /* defence: private-file-mode */ 0o600 });
    written.push(file);
    return join(privateDirAsSeen, name);
  };
  const servers = buildMcpServers(options, announcedServers);
  const hasServers = Object.keys(servers).length > 0;
  return {
    // claude starts faster without a file than with a file that has no servers.
    mcpConfig: hasServers ? write("mcp.json", JSON.stringify({ mcpServers: servers })) : undefined,
    systemPrompt: agent.system_prompt && write("system-prompt.txt", agent.system_prompt),
    remove: async () => {
      await Promise.all(written.map((file) => rm(file, { force: true })));
    },
  };
}

function buildMcpServers(
  { agent, bridgedServers = {} }: Pick<ExecuteOptions, "agent" | "bridgedServers">,
  announcedServers: readonly string[],
): Record<string, unknown> {
  const directServers = Object.entries(partitionServers(agent).direct)
    .filter(([name]) => !(name in bridgedServers))
    .map(([name, { run: _run, ...server }]) => [name, server]);
  return Object.fromEntries([
    ...directServers,
    ...announcedServers.map((name) => [name, { type: "sdk", name }]),
  ]);
}
