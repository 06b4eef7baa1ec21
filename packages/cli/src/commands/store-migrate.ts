import { loadFleet, passwordOf } from "@herdctl/config";
import { migrateStore } from "@herdctl/core/internal";
import { exitCodes, UserError } from "@herdctl/protocol";
import { type CommandContext, textOption } from "../command.ts";
import { findFleet, resolveFleetFile } from "../find-fleet.ts";
import { formatCount } from "../render/format-amounts.ts";

export async function run(context: CommandContext): Promise<number> {
  const { terminal, env } = context;
  const { fleet, environment } = loadFleet(resolveFleetFile(context), env);
  const { store, variable } = parseTarget(context, environment);
  await assertNotRunning(context);
  const { green, dim, bold } = terminal.colors;
  const migrated = await migrateStore({
    stateDir: fleet.stateDir,
    store,
    onTable: ({ table, rows }) => {
      if (rows > 0) terminal.printNote(`${green("✓")} ${table}  ${dim(formatCount(rows, "row"))}`);
    },
  });
  if (terminal.isJson) {
    terminal.printJson(migrated);
    return exitCodes.success;
  }
  const rows = migrated.tables.reduce((sum, table) => sum + table.rows, 0);
  terminal.print(
    `${green("●")} ${formatCount(rows, "row")} of ${formatCount(migrated.tables.length, "table")} copied to ${bold(migrated.store)} and compared`,
  );
  if (fleet.store === undefined) {
    terminal.print("  Add this line to the fleet file:");
    terminal.print(bold(`    store: \${${variable}}`));
  }
  terminal.print(dim(`  Set ${variable} on every machine, in .env or the environment.`));
  terminal.print(dim("  Then run `herdctl start`. The old state in .herdctl is unchanged."));
  return exitCodes.success;
}

function parseTarget(
  { options }: CommandContext,
  environment: Readonly<Record<string, string | undefined>>,
): { store: string; variable: string } {
  const [to, name] = [textOption(options, "to"), textOption(options, "toEnv")];
  if ((to === undefined) === (name === undefined)) {
    throw new UserError("usage", "give either `--to` or `--to-env`", {
      hint: "For example, run `herdctl store migrate --to-env HERDCTL_STORE`.",
    });
  }
  if (name === undefined) {
    if (to !== undefined && passwordOf(to) === undefined) return { store: to, variable };
    // Other users can read arguments in the process list, and the shell history keeps them.
    throw new UserError("usage", "the database password must not be given on the command line", {
      hint: "Set a variable to the address and give its name with `--to-env`.",
    });
  }
  const store = environment[name];
  if (store !== undefined && store !== "") return { store, variable: name };
  throw new UserError("usage", `the variable ${name} is not set`, {
    hint: "Set it to the address of the database, in `.env` or the environment.",
  });
}

const variable = "HERDCTL_STORE";

/** The store lock prevents this too, but with a less useful message. */
async function assertNotRunning(context: CommandContext): Promise<void> {
  const running = await findFleet(context);
  if (!running) return;
  running.close();
  throw new UserError("fleet_running", "the fleet is running, and its new records would be lost", {
    hint: "Stop it with `herdctl stop`, then run this again.",
  });
}
