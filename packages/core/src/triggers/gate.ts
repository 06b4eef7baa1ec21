import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import type { Environment } from "../config/environment.ts";
import type { ResolvedAgent } from "../config/resolve.ts";
import { runMarker } from "../runner/environment.ts";
import { Leash } from "../runner/sweep/leash.ts";
import type { Outcome } from "../state/outcome.ts";

type Gate = NonNullable<ResolvedAgent["schedules"][string]["gate"]>;

export interface GateVisit {
  gate: Gate;
  /** The fleet's folder: an agent's own could be written by the agent. */
  folder: string;
  environment: Environment;
  agent: string;
  schedule: string;
  signal: AbortSignal;
}

export type GateAnswer = { kind: "open"; output: string } | { kind: "closed"; outcome: Outcome };

/** Asks a command on the host whether a job shall be made. Nothing that it started outlives it. */
export async function askGate(visit: GateVisit): Promise<GateAnswer> {
  const { gate, folder, signal } = visit;
  const token = `gate-${randomUUID()}`;
  const child = spawn("/bin/sh", ["-c", gate.command], {
    cwd: folder,
    env: environmentOf(visit, token),
    stdio: ["ignore", "pipe", "pipe"],
    detached: true,
  });
  const leash = new Leash(token);
  if (child.pid !== undefined) leash.hold(child.pid);
  const [output, errors] = [beginningOf(child.stdout), beginningOf(child.stderr)];
  const ended = new Promise<string | undefined>((resolve) => {
    child.once("error", (error) => resolve(`it could not be started (${error.message})`));
    child.once("exit", (code, by) => resolve(code === 0 ? undefined : endText(code, by)));
  });
  const allSaid = new Promise((resolve) => child.once("close", resolve));
  const patience = new Patience(gate.timeout, signal);
  const why = await Promise.race([ended, patience.over]);
  patience.end();
  // What a shell says of its end by our hand is not what the gate had to say.
  const before = child.exitCode === null ? errors() || output() : undefined;
  await leash.kill();
  await Promise.race([allSaid, lastWords()]);
  for (const stream of [child.stdout, child.stderr]) stream.destroy();
  if (why === undefined) return { kind: "open", output: output() };
  return closed(why, before ?? (errors() || output()));
}

/** As much as a prompt may hold, and a little of what is said when it closes. */
const longestOutput = 16_000;
const longestReason = 300;

function closed(why: string, said: string): GateAnswer {
  const lines = said.trim().slice(0, longestReason);
  const message = `The gate is closed: ${why}${lines ? `\n${lines}` : ""}`;
  const hint = "Nothing was spent. Run the gate's command in the fleet's folder to see why.";
  return { kind: "closed", outcome: { code: "gate_closed", message, hint } };
}

function endText(code: number | null, signal: string | null): string {
  return code === null ? `it was ended by ${signal}` : `exit ${code}`;
}

function beginningOf(stream: NodeJS.ReadableStream): () => string {
  let [kept, length] = [Buffer.alloc(0), 0];
  stream.on("data", (data: Buffer) => {
    length += data.length;
    if (kept.length < longestOutput) kept = Buffer.concat([kept, data]).subarray(0, longestOutput);
  });
  return () => `${kept.toString("utf8").trimEnd()}${length > kept.length ? "\n…" : ""}`;
}

const inherited = /^(PATH|HOME|USER|LOGNAME|SHELL|LANG|LANGUAGE|TZ|TMPDIR|LC_\w+)$/;

/** Not the agent's own variables: an agent file must not choose what the host runs. */
function environmentOf({ gate, environment, agent, schedule }: GateVisit, token: string) {
  const short = Object.entries(environment).filter(([name]) => inherited.test(name));
  return {
    ...Object.fromEntries(short),
    ...gate.env,
    HERDCTL_AGENT: agent,
    HERDCTL_SCHEDULE: schedule,
    [runMarker]: token,
  };
}

/** How long a gate is waited for. Signals that Node combines or times itself can be lost to its garbage collector. */
class Patience {
  readonly over: Promise<string>;
  end: () => void = () => undefined;

  constructor(timeout: number, signal: AbortSignal) {
    this.over = new Promise((resolve) => {
      const timer = setTimeout(() => resolve("it took too long"), timeout);
      const stop = () => resolve("the fleet is stopping");
      if (signal.aborted) stop();
      signal.addEventListener("abort", stop, { once: true });
      this.end = () => {
        clearTimeout(timer);
        signal.removeEventListener("abort", stop);
      };
    });
  }
}

function lastWords(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 1_000).unref());
}
