import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, mkdirSync, openSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type Fleet, type FleetStatus, loadFleet, UserError } from "@herdctl/core";
import type { Call } from "./command.ts";
import { findFleet, fleetFileOf } from "./fleet-access.ts";
import { nodeFlags, nodeOptionsOf } from "./node-options.ts";
import { countText } from "./show/amounts.ts";
import { harmless } from "./show/harmless.ts";

const patience = 60_000;
const lookEvery = 50;

/** Starts the same program in the background and waits until it answers. */
export async function startDetached(call: Call): Promise<void> {
  const { env, terminal } = call;
  const file = fleetFileOf(call);
  // What is wrong with the configuration is told here, where somebody looks.
  const { fleet } = loadFleet(file, env);
  const flags = nodeFlags(nodeOptionsOf(call, fleet));
  await refuseIfRunning(call);
  const messages = join(fleet.stateDir, "logs", "start.log");
  const child = spawnFleet(call, fleet, flags, messages);
  const status = await untilItAnswers(call, child, messages);
  if (terminal.json) {
    terminal.printJson({ ...status.fleet, log: join(fleet.stateDir, "logs", "fleet.log") });
    return;
  }
  const { green, bold, dim } = terminal.colors;
  const facts = `${countText(status.agents.length, "agent")} · pid ${status.fleet.pid}`;
  terminal.print(
    `${green("●")} ${bold(harmless(status.fleet.name))} runs in the background  ${dim(facts)}`,
  );
  const link = terminal.live ? await loginLinkOf(call) : undefined;
  if (link !== undefined) terminal.print(`  ${dim("browser".padEnd(9))}${link}`);
  for (const [what, command] of hints) terminal.print(dim(`  ${what.padEnd(9)}${command}`));
}

const hints = [
  ["look", "herdctl status · herdctl top"],
  ["stop", "herdctl stop"],
  ["log", ".herdctl/logs/fleet.log"],
] as const;

async function refuseIfRunning(call: Call): Promise<void> {
  const running = await findFleet(call);
  if (!running) return;
  try {
    const { fleet } = await running.status();
    const since = new Date(fleet.started_at).toLocaleString("sv");
    const message = `this fleet already runs: process ${fleet.pid}, since ${since}`;
    throw new UserError("fleet_running", message);
  } finally {
    running.close();
  }
}

function spawnFleet({ env }: Call, fleet: Fleet, flags: string[], messages: string): ChildProcess {
  mkdirSync(join(fleet.stateDir, "logs"), { recursive: true, mode: 0o700 });
  const output = openSync(messages, "w", 0o600);
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

async function untilItAnswers(
  call: Call,
  child: ChildProcess,
  messages: string,
): Promise<FleetStatus> {
  const deadline = Date.now() + patience;
  while (Date.now() < deadline) {
    if (child.exitCode !== null || child.signalCode !== null) throw endedEarly(messages);
    const status = await statusNow(call);
    const isItself = status?.fleet.pid === child.pid;
    if (status && isItself && status.fleet.state !== "starting") return status;
    await new Promise((resolve) => setTimeout(resolve, lookEvery));
  }
  throw new UserError("fleet_unreachable", `process ${child.pid} has started but does not answer`, {
    hint: `It may still be busy with what an earlier one left: look into ${messages}.`,
  });
}

async function statusNow(call: Call): Promise<FleetStatus | undefined> {
  const fleet = await findFleet(call);
  try {
    return await fleet?.status();
  } catch {
    return undefined;
  } finally {
    fleet?.close();
  }
}

/** No reason to call it a failure, if it does not listen for browsers. */
async function loginLinkOf(call: Call): Promise<string | undefined> {
  const fleet = await findFleet(call);
  try {
    return (await fleet?.loginLink({}))?.url;
  } catch {
    return undefined;
  } finally {
    fleet?.close();
  }
}

function endedEarly(messages: string): UserError {
  const story = readFileSync(messages, "utf8").trim();
  const hint = `Run \`herdctl start\` in the foreground, or look into ${messages}.`;
  return new UserError(
    "fleet_unreachable",
    `the fleet ended while it started:\n${harmless(story)}`,
    { hint },
  );
}
