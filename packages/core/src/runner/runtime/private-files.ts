import { mkdirSync, writeFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import type { ExecuteOptions } from "./interface.ts";
import { placeServers } from "./mcp/place-servers.ts";

/** Each only where there is something to put into it. */
export interface PrivateFiles {
  mcpConfig?: string;
  systemPrompt?: string;
  remove(): Promise<void>;
}

/**
 * What a process list must not show, as files that only this user can read; named as claude sees
 * them. `announced` are the bridged servers that claude hears of by file.
 */
export function writePrivateFiles(
  options: Pick<ExecuteOptions, "agent" | "privateDir" | "privateDirInside" | "bridgedServers">,
  announced: readonly string[] = [],
): PrivateFiles {
  const { agent, privateDir: folder, privateDirInside: seenAs = folder } = options;
  const written: string[] = [];
  const write = (name: string, text: string) => {
    const file = join(folder, name);
    if (written.length === 0) mkdirSync(folder, { recursive: true, mode: 0o700 });
    writeFileSync(file, text, { mode: 0o600 });
    written.push(file);
    return join(seenAs, name);
  };
  const servers = mcpServers(options, announced);
  const hasServers = Object.keys(servers).length > 0;
  return {
    // Told of a file without servers, claude takes longer to start than told of none.
    mcpConfig: hasServers ? write("mcp.json", JSON.stringify({ mcpServers: servers })) : undefined,
    systemPrompt: agent.system_prompt && write("system-prompt.txt", agent.system_prompt),
    remove: async () => {
      await Promise.all(written.map((file) => rm(file, { force: true })));
    },
  };
}

function mcpServers(
  { agent, bridgedServers = {} }: Pick<ExecuteOptions, "agent" | "bridgedServers">,
  announced: readonly string[],
): Record<string, unknown> {
  const given = Object.entries(placeServers(agent).given)
    .filter(([name]) => !(name in bridgedServers))
    .map(([name, { run: _, ...server }]) => [name, server]);
  return Object.fromEntries([...given, ...announced.map((name) => [name, { type: "sdk", name }])]);
}
