import { exitCodes, loadFleet, migrateStore, passwordOf, UserError } from "@herdctl/core";
import { type Call, textOption } from "../command.ts";
import { findFleet, fleetFileOf } from "../fleet-access.ts";
import { countText } from "../show/amounts.ts";

export async function run(call: Call): Promise<number> {
  const { terminal, env } = call;
  const { fleet, environment } = loadFleet(fleetFileOf(call), env);
  const { store, variable } = targetOf(call, environment);
  await refuseIfRunning(call);
  const { green, dim, bold } = terminal.colors;
  const migrated = await migrateStore({
    stateDir: fleet.stateDir,
    store,
    onTable: ({ table, rows }) => {
      if (rows > 0) terminal.note(`${green("✓")} ${table}  ${dim(countText(rows, "row"))}`);
    },
  });
  if (terminal.json) {
    terminal.printJson(migrated);
    return exitCodes.success;
  }
  const rows = migrated.tables.reduce((sum, table) => sum + table.rows, 0);
  terminal.print(
    `${green("●")} ${countText(rows, "row")} of ${countText(migrated.tables.length, "table")} copied to ${bold(migrated.store)} and compared`,
  );
  if (fleet.store === undefined) {
    terminal.print("  Now write into the fleet file:");
    terminal.print(bold(`    store: \${${variable}}`));
  }
  terminal.print(dim(`  Set ${variable} for every machine, in .env or the environment.`));
  terminal.print(dim("  Then herdctl start; the state that was here stays as it is, in .herdctl."));
  return exitCodes.success;
}

function targetOf(
  { options }: Call,
  environment: Readonly<Record<string, string | undefined>>,
): { store: string; variable: string } {
  const [to, name] = [textOption(options, "to"), textOption(options, "toEnv")];
  if ((to === undefined) === (name === undefined)) {
    throw new UserError("usage", "say where to, once: by `--to` or by `--to-env`", {
      hint: "Such as `herdctl store migrate --to-env HERDCTL_STORE`.",
    });
  }
  if (name === undefined) {
    if (to !== undefined && passwordOf(to) === undefined) return { store: to, variable };
    // What is typed can be read by others in the list of processes, and stays in the history.
    throw new UserError(
      "usage",
      "the password of the database does not belong on the command line",
      {
        hint: "Put the address into a variable and name that with `--to-env`.",
      },
    );
  }
  const store = environment[name];
  if (store !== undefined && store !== "") return { store, variable: name };
  throw new UserError("usage", `the variable ${name} is not set`, {
    hint: "Set it to the address of the database, in `.env` or the environment.",
  });
}

const variable = "HERDCTL_STORE";

/** The lock would say so, too, but not what to do. */
async function refuseIfRunning(call: Call): Promise<void> {
  const running = await findFleet(call);
  if (!running) return;
  running.close();
  throw new UserError("fleet_running", "the fleet runs, and what it writes now would be lost", {
    hint: "Stop it with `herdctl stop`, then run this again.",
  });
}
