import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { ResolvedAgent } from "../../config/resolve.ts";

export interface PrivateFiles {
  mcpConfig: string;
  settings: string;
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
  const mcpConfig = join(folder, "mcp.json");
  const settings = join(folder, "settings.json");
  await writeFile(mcpConfig, JSON.stringify({ mcpServers: mcpServers(agent) }), { mode: 0o600 });
  await writeFile(settings, JSON.stringify({ cleanupPeriodDays: keepTranscriptsDays }), {
    mode: 0o600,
  });
  return {
    mcpConfig,
    settings,
    remove: async () => {
      await Promise.all([mcpConfig, settings].map((file) => rm(file, { force: true })));
    },
  };
}

function mcpServers(agent: ResolvedAgent): Record<string, unknown> {
  const servers = Object.entries(agent.mcp_servers);
  return Object.fromEntries(servers.map(([name, { run: _, ...server }]) => [name, server]));
}
