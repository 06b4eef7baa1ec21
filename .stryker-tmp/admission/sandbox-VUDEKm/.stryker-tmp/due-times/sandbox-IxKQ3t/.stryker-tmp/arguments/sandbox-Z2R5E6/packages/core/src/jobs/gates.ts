import { randomUUID } from "node:crypto";
import type { Environment, ResolvedAgent } from "@herdctl/config";
import type { Job, Outcome } from "@herdctl/protocol";
import { retryWhileUnavailable } from "../lib/retry.ts";
import {
  type CommandResult,
  hostEnvironment,
  runHostCommand,
} from "../process-tree/host-command.ts";
import type { Candidate } from "./admission/admit.ts";
import { fillPrompt } from "./prompt-template.ts";
import type { JobServices } from "./services.ts";

type Gate = NonNullable<ResolvedAgent["schedules"][string]["gate"]>;

interface GateRequest {
  gate: Gate;
  /** The fleet's folder, because the agent could write to its own one. */
  folder: string;
  environment: Environment;
  agent: string;
  schedule: string;
  signal: AbortSignal;
}

type GateResult = { kind: "open"; output: string } | { kind: "closed"; outcome: Outcome };

/** Runs the gate command on the host. All processes that it started end with it. */
async function runGate(request: GateRequest): Promise<GateResult> {
  const { gate, folder, signal } = request;
  const [output, errors] = [new OutputHead(), new OutputHead()];
  const reasonText = () => errors.text || output.text;
  const gateTimeout = new GateTimeout(gate.timeout, signal, reasonText);
  const end = await runHostCommand({
    command: gate.command,
    folder,
    env: gateEnvironment(request),
    token: `gate-${randomUUID()}`,
    signal: gateTimeout.signal,
    onStdout: (data) => output.add(data),
    onStderr: (data) => errors.add(data),
  });
  gateTimeout.end();
  if (end.kind === "exit" && end.code === 0) return { kind: "open", output: output.text };
  if (end.kind === "aborted") return closedResult(gateTimeout.reason, gateTimeout.outputBefore);
  return closedResult(describeEnd(end), reasonText());
}

/** Limits for output that goes into a prompt, and for the reason of a closed gate. */
const maxOutputBytes = 16_000;

const maxReasonChars = 300;

function closedResult(reason: string, output: string): GateResult {
  const lines = output.trim().slice(0, maxReasonChars);
  const message = `The gate is closed: ${reason}${lines ? `\n${lines}` : ""}`;
  const hint = "Nothing was spent. Run the gate's command in the fleet's folder to see why.";
  return { kind: "closed", outcome: { code: "gate_closed", message, hint } };
}

function describeEnd(end: Exclude<CommandResult, { kind: "aborted" }>): string {
  if (end.kind === "unstarted") return `it could not be started (${end.error.message})`;
  return end.code === null ? `it was ended by ${end.signal}` : `exit ${end.code}`;
}

/** Keeps the start of the output, and whether there was more. */
class OutputHead {
  private head = Buffer.alloc(0);
  private length = 0;

  get text(): string {
    const more = this.length > this.head.length ? "\n…" : "";
    return `${this.head.toString("utf8").trimEnd()}${more}`;
  }

  add(data: Buffer): void {
    this.length += data.length;
    if (this.head.length >= maxOutputBytes) return;
    this.head = Buffer.concat([this.head, data]).subarray(0, maxOutputBytes);
  }
}

/** Excludes the agent's variables: an agent file must not choose what the host runs. */
function gateEnvironment({ gate, environment, agent, schedule }: GateRequest) {
  return {
    ...hostEnvironment(environment),
    ...gate.env,
    HERDCTL_AGENT: agent,
    HERDCTL_SCHEDULE: schedule,
  };
}

/**
 * The timeout of a gate. It avoids `AbortSignal.any()` and `AbortSignal.timeout()`, whose signals
 * can be garbage-collected too early.
 */
class GateTimeout {
  private readonly controller = new AbortController();
  private readonly timer: NodeJS.Timeout;
  reason = "";
  /** The output before the abort. Later output may be the shell's reaction to being killed. */
  outputBefore = "";

  constructor(
    timeoutMs: number,
    private readonly fleetSignal: AbortSignal,
    private readonly readOutput: () => string,
  ) {
    this.timer = setTimeout(() => this.abort("it took too long"), timeoutMs);
    fleetSignal.addEventListener("abort", this.onStop, { once: true });
    if (fleetSignal.aborted) this.onStop();
  }

  get signal(): AbortSignal {
    return this.controller.signal;
  }

  end(): void {
    clearTimeout(this.timer);
    this.fleetSignal.removeEventListener("abort", this.onStop);
  }

  private readonly onStop = () => this.abort("the fleet is stopping");

  private abort(reason: string): void {
    if (this.controller.signal.aborted) return;
    this.reason = reason;
    this.outputBefore = this.readOutput();
    this.controller.abort();
  }
}

/**
 * Runs the gate of the candidate's schedule and adds its result. Candidates with a delivery are
 * left unchanged: the sender must not wait, so their gate runs before the job starts.
 */
export async function runGateBeforeAdmission(
  { fleet, environment }: Pick<JobServices, "fleet" | "environment">,
  candidate: Candidate,
  signal: AbortSignal = new AbortController().signal,
): Promise<Candidate> {
  const { request } = candidate;
  const agent = fleet().agents.find(({ name }) => name === request.agent);
  const { schedule: name } = request;
  const schedule = name === undefined ? undefined : agent?.schedules[name];
  if (!agent || name === undefined || !schedule?.gate) return candidate;
  if (candidate.delivery) return candidate;
  const gateResult = await runGate({
    gate: schedule.gate,
    folder: agent.fleet_dir,
    environment: environment(),
    agent: agent.name,
    schedule: name,
    signal,
  });
  if (gateResult.kind === "closed") return { ...candidate, gate: gateResult.outcome };
  if (request.prompt !== undefined || schedule.prompt === undefined) return candidate;
  const prompt = fillPrompt(schedule.prompt, { gate: { output: gateResult.output } });
  return { ...candidate, request: { ...request, prompt, expand: false } };
}

/**
 * Runs the gate of a job that a delivery triggered. It does not run before admission, because the
 * sender must not wait. If the fleet process dies meanwhile, the job stays pending and the next
 * process runs the gate again. If `signal` is aborted first, the job stays as it is.
 */
export async function runGateBeforeStart(
  services: JobServices,
  agent: ResolvedAgent,
  job: Job,
  signal: AbortSignal,
): Promise<Job> {
  const { gate } = agent.schedules[job.schedule ?? ""] ?? {};
  const isFirst = job.trigger_type === "webhook" && job.attempts === 0;
  if (!gate || !isFirst) return job;
  const gateResult = await runGate({
    gate,
    folder: agent.fleet_dir,
    environment: services.environment(),
    agent: agent.name,
    schedule: job.schedule ?? "",
    signal,
  });
  if (signal.aborted) return job;
  const change =
    gateResult.kind === "closed"
      ? { status: "skipped" as const, outcome: gateResult.outcome, due_at: null }
      : { prompt: fillPrompt(job.prompt, { gate: { output: gateResult.output } }) };
  return (await retryWhileUnavailable(services, () => services.state.jobs.update(job.id, change)))
    .job;
}
