import { findFleetFile, stateDirOf, UserError } from "@herdctl/core/light";
import { type LedgerEntry, loadScript, type Rehearsal, startRehearsal } from "@herdctl/rehearsal";
import { type Call, textOption } from "../command.ts";
import type { Terminal } from "../terminal.ts";

export async function run(call: Call): Promise<number> {
  const { options, terminal, rest } = call;
  const scriptFile = call.arguments[0];
  const isAlone = rest.length === 0;
  if (!isAlone) await refuseBesideAFleet(call);
  const rehearsal = await startRehearsal({
    ...(scriptFile !== undefined && { script: await loadScript(scriptFile) }),
    port: portOption(textOption(options, "port")),
    ...(typeof options.socket === "string" && { socketPath: options.socket }),
    ...(isAlone && { onRequest: (entry: LedgerEntry) => printRequest(entry, terminal) }),
  });
  if (!isAlone) return await withCommand(rehearsal, call);
  announce(rehearsal, terminal);
  await stopSignal();
  await rehearsal.stop();
  return 0;
}

async function withCommand(rehearsal: Rehearsal, { rest, env, terminal }: Call): Promise<number> {
  const { runRehearsed } = await import("../run-rehearsed.ts");
  try {
    return await runRehearsed(rest, rehearsal, env);
  } finally {
    await rehearsal.stop();
    terminal.note(terminal.colors.dim(storyOf(rehearsal.ledger.main.length)));
  }
}

function storyOf(answers: number): string {
  if (answers === 0) return "Rehearsed: nothing was asked of the script.";
  const count = `${answers} answer${answers === 1 ? "" : "s"}`;
  return `Rehearsed: ${count} from a script, and no cost is real.`;
}

/** A fleet that runs already would do what the command asks of it, with its own model and for money. */
async function refuseBesideAFleet({ cwd }: Call): Promise<void> {
  const { lockHolder } = await import("@herdctl/core/state");
  let file: string;
  try {
    file = findFleetFile({ config: undefined, cwd });
  } catch {
    return;
  }
  const holder = lockHolder(stateDirOf(file));
  if (!holder) return;
  throw new UserError("fleet_running", `a fleet with its own model runs here, as ${holder.pid}`, {
    hint: "Stop it with `herdctl stop`, or rehearse in a copy of the folder.",
  });
}

function portOption(text: string | undefined): number {
  const port = Number(text ?? 0);
  if (Number.isInteger(port) && port >= 0 && port <= 65_535) return port;
  throw new UserError("usage", `"${text}" is not a port`, {
    hint: "Give a number from 0 to 65535.",
  });
}

function announce(rehearsal: Rehearsal, terminal: Terminal): void {
  if (terminal.json) {
    const { url, socketPath: socket } = rehearsal;
    terminal.print(JSON.stringify({ url, socket, env: rehearsal.env() }));
    return;
  }
  const { bold, dim, cyan } = terminal.colors;
  const where = [rehearsal.url, rehearsal.socketPath]
    .filter((one) => one !== undefined)
    .join(" and ");
  terminal.print(`${bold("The rehearsal model listens")} on ${cyan(where)}`);
  terminal.print(dim("Claude Code talks to it with these variables:"));
  for (const [name, value] of Object.entries(rehearsal.env()))
    terminal.print(`  export ${name}=${value}`);
  terminal.print(dim("Ctrl-C ends it.\n"));
}

function printRequest(entry: LedgerEntry, terminal: Terminal): void {
  if (entry.end === "open") return;
  if (terminal.json) {
    const { body: _, key, ...rest } = entry;
    terminal.print(JSON.stringify({ ...rest, key: key?.kind }));
    return;
  }
  const { green, yellow, dim } = terminal.colors;
  const status = entry.status ?? 0;
  const mark =
    status >= 200 && status < 300 ? green(String(status)) : yellow(String(status || "cut"));
  const what = entry.prompt?.split("\n")[0]?.slice(0, 60) ?? entry.path;
  const why = entry.fault ?? entry.rule ?? "";
  terminal.print(
    `${dim(entry.at.slice(11, 19))} ${mark} ${entry.kind.padEnd(8)} ${what} ${dim(why)}`,
  );
}

function stopSignal(): Promise<void> {
  return new Promise((resolve) => {
    process.once("SIGINT", () => resolve());
    process.once("SIGTERM", () => resolve());
  });
}
