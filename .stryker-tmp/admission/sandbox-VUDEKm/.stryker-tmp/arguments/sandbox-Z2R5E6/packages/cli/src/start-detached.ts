import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, mkdirSync, openSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type Fleet, loadFleet } from "@herdctl/config";
import { type FleetStatus, UserError } from "@herdctl/protocol";
import type { CommandContext } from "./command.ts";
import { findFleet, resolveFleetFile } from "./find-fleet.ts";
import { formatNodeFlags, parseNodeOptions } from "./node-options.ts";
import { formatCount } from "./render/format-amounts.ts";
import { sanitizeText } from "./render/sanitize-text.ts";

const startTimeoutMs = 60_000;
const pollIntervalMs = 50;

/** Starts the fleet in the background and waits until it answers. */
export async function startDetached(context: CommandContext): Promise<void> {
  const { env, terminal } = context;
  const file = resolveFleetFile(context);
  // Load the configuration here too, so that its problems appear in this terminal.
  const { fleet } = loadFleet(file, env);
  const flags = formatNodeFlags(parseNodeOptions(context, fleet));
  await assertNotRunning(context);
  const startLogFile = join(fleet.stateDir, "logs", "start.log");
  const child = spawnFleet(context, fleet, flags, startLogFile);
  const status = await waitUntilRunning(context, child, startLogFile);
  if (terminal.isJson) {
    terminal.printJson({ ...status.fleet, log: join(fleet.stateDir, "logs", "fleet.log") });
    return;
  }
  const { green, bold, dim } = terminal.colors;
  const facts = `${formatCount(status.agents.length, "agent")} · pid ${status.fleet.pid}`;
  terminal.print(
    `${green("●")} ${bold(sanitizeText(status.fleet.name))} is running in the background  ${dim(facts)}`,
  );
  const link = terminal.canRedraw ? await createLoginLink(context) : undefined;
  if (link !== undefined) terminal.print(`  ${dim("browser".padEnd(9))}${link}`);
  for (const [label, command] of nextSteps) terminal.print(dim(`  ${label.padEnd(9)}${command}`));
}

const nextSteps = [
  ["watch", "herdctl status · herdctl top"],
  ["stop", "herdctl stop"],
  ["log", ".herdctl/logs/fleet.log"],
] as const;

async function assertNotRunning(context: CommandContext): Promise<void> {
  const running = await findFleet(context);
  if (!running) return;
  try {
    const { fleet } = await running.status();
    const since = new Date(fleet.started_at).toLocaleString("sv");
    const message = `the fleet is already running: process ${fleet.pid}, since ${since}`;
    throw new UserError("fleet_running", message);
  } finally {
    running.close();
  }
}

function spawnFleet(
  { env }: CommandContext,
  fleet: Fleet,
  flags: string[],
  startLogFile: string,
): ChildProcess {
  mkdirSync(join(fleet.stateDir, "logs"), { recursive: true, mode: 0o700 });
  const output = openSync(startLogFile, "w", 0o600);
  try {
    const program = process.argv[1] ?? "";
    const child = spawn(process.execPath, [program, "start", ...flags, "--config", fleet.file], {
      cwd: fleet.dir,
      env,
      detached: true,
      stdio: ["ignore", "ignore", output],
    });
    child.unref();
    return child;
  } finally {
    closeSync(output);
  }
}

async function waitUntilRunning(
  context: CommandContext,
  child: ChildProcess,
  startLogFile: string,
): Promise<FleetStatus> {
  const deadline = Date.now() + startTimeoutMs;
  while (Date.now() < deadline) {
    if (child.exitCode !== null || child.signalCode !== null) throw startupError(startLogFile);
    const status = await fetchStatus(context);
    const isSameProcess = status?.fleet.pid === child.pid;
    if (status && isSameProcess && status.fleet.state !== "starting") return status;
    await new Promise((resolve) => setTimeout(resolve, pollIntervalMs));
  }
  throw new UserError("fleet_unreachable", `process ${child.pid} has started but does not answer`, {
    hint: `It may still be taking over jobs of an earlier fleet process. Its output is in ${startLogFile}.`,
  });
}

async function fetchStatus(context: CommandContext): Promise<FleetStatus | undefined> {
  const fleet = await findFleet(context);
  try {
    return await fleet?.status();
  } catch {
    return undefined;
  } finally {
    fleet?.close();
  }
}

/** Undefined if the fleet does not listen for browsers, which is not an error. */
async function createLoginLink(context: CommandContext): Promise<string | undefined> {
  const fleet = await findFleet(context);
  try {
    return (await fleet?.createLoginLink({}))?.url;
  } catch {
    return undefined;
  } finally {
    fleet?.close();
  }
}

function startupError(startLogFile: string): UserError {
  const logText = readFileSync(startLogFile, "utf8").trim();
  const hint = `Run \`herdctl start\` in the foreground, or read ${startLogFile}.`;
  return new UserError(
    "fleet_unreachable",
    `the fleet exited during start:\n${sanitizeText(logText)}`,
    { hint },
  );
}
