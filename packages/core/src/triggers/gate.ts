import { randomUUID } from "node:crypto";
import type { Environment } from "../config/environment.ts";
import type { ResolvedAgent } from "../config/resolve.ts";
import { type CommandEnd, runHostCommand } from "../runner/sweep/host-command.ts";
import { hostEnvironment } from "../runner/sweep/host-environment.ts";
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
  const [output, errors] = [new Beginning(), new Beginning()];
  const said = () => errors.text || output.text;
  const patience = new Patience(gate.timeout, signal, said);
  const end = await runHostCommand({
    command: gate.command,
    folder,
    env: environmentOf(visit),
    token: `gate-${randomUUID()}`,
    signal: patience.signal,
    onStdout: (data) => output.add(data),
    onStderr: (data) => errors.add(data),
  });
  patience.end();
  if (end.kind === "exit" && end.code === 0) return { kind: "open", output: output.text };
  if (end.kind === "aborted") return closed(patience.why, patience.saidBefore);
  return closed(endText(end), said());
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

function endText(end: Exclude<CommandEnd, { kind: "aborted" }>): string {
  if (end.kind === "unstarted") return `it could not be started (${end.error.message})`;
  return end.code === null ? `it was ended by ${end.signal}` : `exit ${end.code}`;
}

/** The first of what is said; the rest is only known to be there. */
class Beginning {
  private kept = Buffer.alloc(0);
  private length = 0;

  get text(): string {
    const more = this.length > this.kept.length ? "\n…" : "";
    return `${this.kept.toString("utf8").trimEnd()}${more}`;
  }

  add(data: Buffer): void {
    this.length += data.length;
    if (this.kept.length >= longestOutput) return;
    this.kept = Buffer.concat([this.kept, data]).subarray(0, longestOutput);
  }
}

/** Not the agent's own variables: an agent file must not choose what the host runs. */
function environmentOf({ gate, environment, agent, schedule }: GateVisit) {
  return {
    ...hostEnvironment(environment),
    ...gate.env,
    HERDCTL_AGENT: agent,
    HERDCTL_SCHEDULE: schedule,
  };
}

/** How long a gate is waited for. Signals that Node combines or times itself can be lost to its garbage collector. */
class Patience {
  private readonly over = new AbortController();
  private readonly timer: NodeJS.Timeout;
  why = "";
  /** What a shell says of its end by our hand is not what the gate had to say. */
  saidBefore = "";

  constructor(
    timeout: number,
    private readonly fleet: AbortSignal,
    private readonly said: () => string,
  ) {
    this.timer = setTimeout(() => this.lose("it took too long"), timeout);
    fleet.addEventListener("abort", this.onStop, { once: true });
    if (fleet.aborted) this.onStop();
  }

  get signal(): AbortSignal {
    return this.over.signal;
  }

  end(): void {
    clearTimeout(this.timer);
    this.fleet.removeEventListener("abort", this.onStop);
  }

  private readonly onStop = () => this.lose("the fleet is stopping");

  private lose(why: string): void {
    if (this.over.signal.aborted) return;
    this.why = why;
    this.saidBefore = this.said();
    this.over.abort();
  }
}
