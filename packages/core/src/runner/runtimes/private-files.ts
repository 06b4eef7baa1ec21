import { mkdirSync, writeFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import type { ClaudeSettings, ResolvedAgent } from "@herdctl/config";
import { partitionServers } from "./mcp/bridged-server.ts";
import type { ExecuteOptions } from "./runtime-interface.ts";

/** Paths of the written files. */
export interface PrivateFiles {
  mcpConfig?: string;
  settings: string;
  subagentPrompt?: string;
  remove(): Promise<void>;
}

interface FileContents {
  settings: ClaudeSettings;
  announcedServers?: readonly string[];
}

/**
 * Writes options that must not appear in a process list to files that only this user can read.
 * Returns their paths as seen by claude. `announcedServers` are the bridged servers to list in the
 * MCP configuration.
 */
export function writePrivateFiles(
  options: Pick<ExecuteOptions, "agent" | "privateDir" | "privateDirAsSeen" | "bridgedServers">,
  { settings, announcedServers = [] }: FileContents,
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
    settings: write("settings.json", JSON.stringify(settings)),
    subagentPrompt: agent.subagent_prompt && write("subagent-prompt.txt", agent.subagent_prompt),
    remove: async () => {
      await Promise.all(written.map((file) => rm(file, { force: true })));
    },
  };
}

function buildMcpServers(
  { agent, bridgedServers = {} }: Pick<ExecuteOptions, "agent" | "bridgedServers">,
  announcedServers: readonly string[],
): Record<string, unknown> {
  const directServers = Object.entries(partitionServers(agent).direct).filter(
    ([name]) => !(name in bridgedServers),
  );
  return Object.fromEntries([
    ...directServers.map(([name, server]) => {
      const { run: _run, required: _required, tool_policy: _policy, ...others } = server;
      const { timeout, always_load, ...own } = others;
      return [name, { ...own, ...toServerOptions({ timeout, always_load }) }];
    }),
    ...announcedServers.map((name) => {
      const { [name]: server } = agent.mcp_servers;
      return [name, { type: "sdk", name, ...(server && toServerOptions(server)) }];
    }),
  ]);
}

type ServerOptions = Pick<ResolvedAgent["mcp_servers"][string], "timeout" | "always_load">;

/** Options of a server in the form of Claude Code, which has no policy for tools of all servers. */
export function toServerOptions({ timeout, always_load: alwaysLoad }: ServerOptions) {
  return {
    ...(timeout !== undefined && { timeout }),
    ...(alwaysLoad !== undefined && { alwaysLoad }),
  };
}
