import { resolve } from "node:path";
import { loadFleet } from "@herdctl/config";
import { createBackup } from "@herdctl/core/internal";
import { backupPassword } from "../backup-password.ts";
import type { CommandContext } from "../command.ts";
import { resolveFleetFile } from "../find-fleet.ts";
import { formatCount } from "../render/format-amounts.ts";

export async function run(context: CommandContext): Promise<number> {
  const { terminal, env, cwd } = context;
  const loaded = loadFleet(resolveFleetFile(context), env);
  const password = backupPassword(context, loaded.environment);
  const time = new Date().toISOString().slice(0, 19).replaceAll(/[:T]/g, "-");
  const extension = password === undefined ? "tar.gz" : "backup";
  const name = context.arguments[0] ?? `${loaded.fleet.fleet.name}-${time}.${extension}`;
  const result = await createBackup(loaded, {
    file: resolve(cwd, name),
    ...(password !== undefined && { password }),
  });
  if (terminal.isJson) terminal.printJson(result);
  else {
    const { green, dim } = terminal.colors;
    const counts = `${formatCount(result.jobs, "job")}, ${formatCount(result.sessions, "session")}`;
    terminal.print(`${green("✓")} ${result.file}  ${dim(counts)}`);
    terminal.print(dim("  Not included: .env, working directories, tokens. Keep a copy of .env."));
  }
  return 0;
}
