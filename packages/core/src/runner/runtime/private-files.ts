import { mkdirSync, writeFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import type { ExecuteOptions } from "./interface.ts";
import { placeServers } from "./mcp/place-servers.ts";

export interface PrivateFiles {
  mcpConfig: string;
  settings: string;
  systemPrompt: string;
  remove(): Promise<void>;
}

/** Far beyond any session that someone may want to resume; the binary's own sweep deletes after 30 days. */
const keepTranscriptsDays = 36_500;

/**
 * What a process list must not show, as files that only this user can read; named as claude sees
 * them. `announced` are the bridged servers that claude hears of by file.
 */
export function writePrivateFiles(
  options: Pick<ExecuteOptions, "agent" | "privateDir" | "privateDirInside" | "bridgedServers">,
  announced: readonly string[] = [],
): PrivateFiles {
  const { agent, privateDir: folder, privateDirInside: seenAs = folder } = options;
  const files = filesIn(folder);
  const write = (file: string, text: string) => writeFileSync(file, text, { mode: 0o600 });
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  write(files.mcpConfig, JSON.stringify({ mcpServers: mcpServers(options, announced) }));
  write(files.settings, JSON.stringify({ cleanupPeriodDays: keepTranscriptsDays }));
  write(files.systemPrompt, agent.system_prompt ?? "");
  return {
    ...filesIn(seenAs),
    remove: async () => {
      await Promise.all(Object.values(files).map((file) => rm(file, { force: true })));
    },
  };
}

function filesIn(folder: string) {
  return {
    mcpConfig: join(folder, "mcp.json"),
    settings: join(folder, "settings.json"),
    systemPrompt: join(folder, "system-prompt.txt"),
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
