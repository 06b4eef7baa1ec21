import { findFleetFile, stateDirOf, UserError } from "@herdctl/protocol";
import { type LedgerEntry, loadScript, type Rehearsal, startRehearsal } from "@herdctl/rehearsal";
import { type CommandContext, textOption } from "../command.ts";
import { formatCount } from "../render/format-amounts.ts";
import type { Terminal } from "../terminal.ts";

export async function run(context: CommandContext): Promise<number> {
  const { options, terminal, passthroughArgs } = context;
  const [scriptFile] = context.arguments;
  const hasCommand = passthroughArgs.length > 0;
  if (hasCommand) await assertNoFleetRunning(context);
  const rehearsal = await startRehearsal({
    ...(scriptFile !== undefined && { script: await loadScript(scriptFile) }),
    port: parsePort(textOption(options, "port")),
    ...(typeof options.socket === "string" && { socketPath: options.socket }),
    ...(!hasCommand && { onRequest: (entry: LedgerEntry) => printRequest(entry, terminal) }),
  });
  if (hasCommand) return await runCommandWithRehearsal(rehearsal, context);
  printConnectionInfo(rehearsal, terminal);
  await waitForStopSignal();
  await rehearsal.stop();
  return 0;
}

async function runCommandWithRehearsal(
  rehearsal: Rehearsal,
  { passthroughArgs, env, terminal }: CommandContext,
): Promise<number> {
  const { runWithRehearsal } = await import("../run-with-rehearsal.ts");
  try {
    return await runWithRehearsal(passthroughArgs, rehearsal, env);
  } finally {
    await rehearsal.stop();
    terminal.printNote(terminal.colors.dim(summaryText(rehearsal.ledger.main.length)));
  }
}

function summaryText(answerCount: number): string {
  if (answerCount === 0) return "Rehearsal: the scripted model received no requests.";
  return `Rehearsal: ${formatCount(answerCount, "answer")} from the script. Costs shown are not real.`;
}

/** A running fleet would carry out the command's jobs with the real model, at a real cost. */
async function assertNoFleetRunning({ cwd }: CommandContext): Promise<void> {
  const { readLockHolder } = await import("@herdctl/core/internal");
  let file: string;
  try {
    file = findFleetFile({ config: undefined, cwd });
  } catch {
    return;
  }
  const holder = readLockHolder(stateDirOf(file));
  if (!holder) return;
  const message = `the fleet of this folder is running with another model (process ${holder.pid})`;
  throw new UserError("fleet_running", message, {
    hint: "Stop it with `herdctl stop`, or rehearse in a copy of the folder.",
  });
}

function parsePort(text: string | undefined): number {
  const port = Number(text ?? 0);
  if (Number.isInteger(port) && port >= 0 && port <= 65_535) return port;
  throw new UserError("usage", `"${text}" is not a port`, {
    hint: "Use a number from 0 to 65535.",
  });
}

function printConnectionInfo(rehearsal: Rehearsal, terminal: Terminal): void {
  if (terminal.isJson) {
    const { url, socketPath: socket } = rehearsal;
    terminal.print(JSON.stringify({ url, socket, env: rehearsal.env() }));
    return;
  }
  const { bold, dim, cyan } = terminal.colors;
  const addresses = [rehearsal.url, rehearsal.socketPath].filter((one) => one !== undefined);
  terminal.print(`${bold("The scripted model listens")} on ${cyan(addresses.join(" and "))}`);
  terminal.print(dim("Claude Code uses it with these variables:"));
  for (const [name, value] of Object.entries(rehearsal.env()))
    terminal.print(`  export ${name}=${value}`);
  terminal.print(dim("Press Ctrl-C to stop it.\n"));
}

function printRequest(entry: LedgerEntry, terminal: Terminal): void {
  if (entry.end === "open") return;
  if (terminal.isJson) {
    const { body: _, key, ...rest } = entry;
    terminal.print(JSON.stringify({ ...rest, key: key?.kind }));
    return;
  }
  const { green, yellow, dim } = terminal.colors;
  const status = entry.status ?? 0;
  const mark =
    status >= 200 && status < 300 ? green(String(status)) : yellow(String(status || "cut"));
  const prompt = entry.prompt?.split("\n")[0]?.slice(0, 60) ?? entry.path;
  const rule = entry.fault ?? entry.rule ?? "";
  terminal.print(
    `${dim(entry.at.slice(11, 19))} ${mark} ${entry.kind.padEnd(8)} ${prompt} ${dim(rule)}`,
  );
}

function waitForStopSignal(): Promise<void> {
  return new Promise((resolve) => {
    process.once("SIGINT", () => resolve());
    process.once("SIGTERM", () => resolve());
  });
}
