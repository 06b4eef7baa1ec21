import { resolve } from "node:path";
import { restoreBackup } from "@herdctl/core/internal";
import { UserError } from "@herdctl/protocol";
import { backupPassword } from "../backup-password.ts";
import type { CommandContext } from "../command.ts";

export async function run(context: CommandContext): Promise<number> {
  const { terminal, env, cwd } = context;
  const [name] = context.arguments;
  if (name === undefined) throw new UserError("usage", "the backup file is missing");
  const password = backupPassword(context, env);
  const source = { file: resolve(cwd, name), ...(password !== undefined && { password }) };
  const replaceState = context.options.replaceState === true;
  const manifest = await restoreBackup(source, { dir: cwd, environment: env, replaceState });
  if (terminal.isJson) terminal.printJson(manifest);
  else {
    const { green, dim } = terminal.colors;
    terminal.print(
      `${green("✓")} ${manifest.fleet} of ${manifest.created_at} is restored in ${cwd}`,
    );
    terminal.print(dim("  Next: restore .env, then run herdctl doctor and herdctl start."));
  }
  return 0;
}
