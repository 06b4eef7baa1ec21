import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { ResolvedAgent } from "../../config/resolve.ts";

export interface PrivateFiles {
  mcpConfig: string;
  settings: string;
  systemPrompt: string;
  remove(): Promise<void>;
}

/** Far beyond any session that someone may want to resume; the binary's own sweep deletes after 30 days. */
const keepTranscriptsDays = 36_500;

/** What a process list must not show, as files that only this user can read. */
export async function writePrivateFiles(
  agent: ResolvedAgent,
  folder: string,
): Promise<PrivateFiles> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const files = {
    mcpConfig: join(folder, "mcp.json"),
    settings: join(folder, "settings.json"),
    systemPrompt: join(folder, "system-prompt.txt"),
  };
  const write = (file: string, text: string) => writeFile(file, text, { mode: 0o600 });
  await Promise.all([
    write(files.mcpConfig, JSON.stringify({ mcpServers: mcpServers(agent) })),
    write(files.settings, JSON.stringify({ cleanupPeriodDays: keepTranscriptsDays })),
    write(files.systemPrompt, agent.system_prompt ?? ""),
  ]);
  return {
    ...files,
    remove: async () => {
      await Promise.all(Object.values(files).map((file) => rm(file, { force: true })));
    },
  };
}

function mcpServers(agent: ResolvedAgent): Record<string, unknown> {
  const servers = Object.entries(agent.mcp_servers);
  return Object.fromEntries(servers.map(([name, { run: _, ...server }]) => [name, server]));
}
