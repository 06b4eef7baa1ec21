import type { SDKMessage } from "@anthropic-ai/claude-agent-sdk";
import {
  completeAgent,
  type Environment,
  type Fleet,
  type ResolvedAgent,
  type ResolvedAgentConfig,
} from "@herdctl/config";
import { isFinished, type Job, outcomes, UserError } from "@herdctl/protocol";
import { type AdmissionRules, admit } from "../jobs/admission/admit.ts";
import { sharedLimits } from "../jobs/attempts/budget-watch.ts";
import { settleRun } from "../jobs/attempts/settle-run.ts";
import { isAlive } from "../lib/process-identity.ts";
import { dayOf } from "../lib/time-zone.ts";
import { CallbackError, RunnerError, SDKError } from "../runner/contract/errors.ts";
import type { RunnerClaim } from "../runner/contract/messages.ts";
import { readClaim } from "../runner/contract/paths.ts";
import type { SpendPlan } from "../runner/contract/run-order.ts";
import { toRefusal } from "../runner/execution/classify-outcome.ts";
import { collectRunReport } from "../runner/recovery/collect-report.ts";
import { newJobId } from "../store/model/ids.ts";
import { StateManager } from "../store/state-manager.ts";
import { type JobCallbacks, runJob, skipHooks } from "./run-job.ts";

export interface RunnerOptions extends Omit<JobCallbacks, "onError"> {
  /** An agent of `loadFleet`, or one that the program writes itself. */
  agent: ResolvedAgentConfig;
  prompt: string;
  /** The id of the job (default: a new id). A job that `createJob` recorded is run under its id. */
  jobId?: string;
  /** The `.herdctl` folder. */
  stateDir: string;
  /** The schedule to run, which may require a report. */
  schedule?: string;
  /** A session to resume. */
  resume?: string;
  /** Fork the session instead of resuming it. */
  fork?: boolean;
  /** With `fork`: the last message to copy to the new session. */
  forkPoint?: string;
  signal?: AbortSignal;
  environment?: NodeJS.ProcessEnv;
  claudePath?: string;
  /** Budget of the whole fleet, and the time zone of its days. The agent's own budget always applies. */
  fleet?: Partial<Pick<Fleet["fleet"], "budget" | "timezone"> & Pick<Fleet, "prices">>;
}

export interface RunnerResult {
  success: boolean;
  /** Empty if there is no session. */
  sessionId: string;
  /** The last text of the agent. */
  summary?: string;
  /** Set if the run did not succeed. */
  error?: RunnerError;
  /** The record; undefined if the options were refused before there was one. */
  job?: Job;
}

type JobOptions = RunnerOptions & { jobId: string };

/**
 * Runs an agent in this process, with the same admission and budgets as in a fleet. There are no
 * hooks, gates or retries: the caller receives the result directly. Never rejects: everything that
 * goes wrong is in `error`.
 */
export async function runAgent(options: RunnerOptions): Promise<RunnerResult> {
  const jobId = options.jobId ?? newJobId(new Date());
  const state = new StateManager(options.stateDir);
  try {
    const { timezone } = options.fleet ?? {};
    await state.open({ dayName: (at) => dayOf(at, timezone).name });
    return await runInState(state, { ...options, jobId });
  } catch (error) {
    return failure(jobId, error);
  } finally {
    await state.close();
  }
}

async function runInState(state: StateManager, options: JobOptions): Promise<RunnerResult> {
  const { environment = process.env } = options;
  const agent = completeAgent(options.agent);
  await settleDeadRuns(state, agent, environment);
  const job = await admitJob(state, agent, options);
  if (job.status === "skipped") return resultOf(await skipHooks(state, job), {});
  const seen: SeenErrors = {};
  const onMessage = (message: SDKMessage) => {
    if (message.type === "result" && message.is_error) seen.sdkMessage = message;
    return options.onMessage?.(message);
  };
  const onError = (error: unknown) => {
    seen.cause = error;
  };
  const { claudePath, signal = new AbortController().signal, askPerson } = options;
  const spend = () => spendPlanOf(state, agent, job, options.fleet);
  const request = { state, job, agent, environment, claudePath, signal, spend };
  try {
    return resultOf(await runJob(request, { onMessage, onError, askPerson }), seen);
  } catch (error) {
    return failure(job.id, error, await endUnstartedJob(state, job, error));
  }
}

async function admitJob(
  state: StateManager,
  agent: ResolvedAgent,
  { prompt, jobId, schedule, resume, fork, forkPoint, fleet }: JobOptions,
): Promise<Job> {
  if (fork && resume === undefined)
    throw new UserError("usage", "`fork` needs the session to fork", {
      hint: "Pass its id as `resume`.",
    });
  const session = fork ? { fork: resume, forkPoint } : { resume };
  const source = { trigger: "manual" as const, agent: agent.name, schedule };
  const rules: AdmissionRules = {
    day: () => dayOf(new Date(), fleet?.timezone),
    budget: fleet?.budget,
  };
  const recorded = await state.jobs.get(state.jobDir(jobId) && jobId);
  if (recorded) assertSameJob(recorded, { agent: agent.name, prompt, resume, fork });
  const request = { ...source, prompt, jobId, ...session };
  return (await admit(state, [agent], request, rules, recorded)).job;
}

/** A recorded job can be run once, and only as what it was recorded. */
function assertSameJob(
  { id, status, agent, prompt, resumed_from, forked_from }: Job,
  wanted: Pick<RunnerOptions, "prompt" | "resume" | "fork"> & { agent: string },
): void {
  const session = forked_from ?? resumed_from ?? undefined;
  const differs =
    status !== "pending"
      ? `it is ${status}`
      : agent !== wanted.agent
        ? `it is a job of the agent \`${agent}\``
        : prompt !== wanted.prompt
          ? "it has another prompt"
          : session !== wanted.resume || (forked_from !== null) !== (wanted.fork ?? false)
            ? "it has another session"
            : undefined;
  if (differs === undefined) return;
  throw new UserError("usage", `there is already a job ${id}, and ${differs}`, {
    hint: "Use another job id, or leave it out.",
  });
}

async function spendPlanOf(
  state: StateManager,
  agent: ResolvedAgent,
  job: Job,
  fleet: RunnerOptions["fleet"] = {},
): Promise<SpendPlan> {
  const spent = { usd: 0, tokens: 0 };
  return {
    limits: sharedLimits({
      run: { jobId: job.id, agent: agent.name, chainId: job.chain.id, spent },
      budgets: { fleet: fleet.budget ?? {}, agent: agent.budget },
      spending: await state.budgets.getSpending(dayOf(new Date(), fleet.timezone)),
      inFlight: [],
    }),
    prices: fleet.prices ?? {},
  };
}

/** A job that could not be prepared must not stay in the queue, where a fleet would start it. */
async function endUnstartedJob(
  state: StateManager,
  { id }: Job,
  error: unknown,
): Promise<Job | undefined> {
  const job = await state.jobs.get(id);
  if (job?.status !== "pending") return job;
  const { code, message, hint = outcomes[code].hint } = toRefusal(error);
  const outcome = { code, message, hint };
  const ended = await state.jobs.update(id, { status: "failed", outcome });
  return await skipHooks(state, ended.job);
}

/** Runs agents on one state directory. */
export class AgentRunner {
  private readonly agents = new Map<string, ResolvedAgentConfig>();

  constructor(
    private readonly stateDir: string,
    /** Options of every run, such as `agent` and `environment`. */
    private readonly defaults: Partial<Omit<RunnerOptions, "stateDir" | "prompt" | "jobId">> = {},
  ) {}

  async run(
    options: Omit<RunnerOptions, "stateDir" | "agent"> & Partial<Pick<RunnerOptions, "agent">>,
  ): Promise<RunnerResult> {
    const { jobId = newJobId(new Date()) } = options;
    const agent = options.agent ?? this.defaults.agent;
    if (!agent) return failure(jobId, noAgentError(options.resume));
    const { stateDir, defaults } = this;
    const result = await runAgent({ ...defaults, ...options, agent, jobId, stateDir });
    if (result.sessionId !== "") this.agents.set(result.sessionId, agent);
    return result;
  }

  /** Runs the agent of the session, if this runner has run it, or else the default agent. */
  resume(sessionId: string, prompt: string): Promise<RunnerResult> {
    return this.run({ agent: this.agents.get(sessionId), prompt, resume: sessionId });
  }

  /** Like `resume`, in a copy of the session. `at`: the last message to copy. */
  fork(sessionId: string, prompt: string, at?: string): Promise<RunnerResult> {
    const agent = this.agents.get(sessionId);
    return this.run({ agent, prompt, resume: sessionId, fork: true, forkPoint: at });
  }
}

function noAgentError(sessionId: string | undefined): UserError {
  const message =
    sessionId === undefined
      ? "there is no agent to run"
      : `this runner has not run session ${sessionId}, so its agent is unknown`;
  return new UserError("usage", message, {
    hint: "Pass the agent: `run({ agent, prompt, resume })`, or `new AgentRunner(stateDir, { agent })`.",
  });
}

/** What the run itself reported about its error. */
interface SeenErrors {
  cause?: unknown;
  sdkMessage?: unknown;
}

function resultOf(job: Job, seen: SeenErrors): RunnerResult {
  const success = job.status === "completed";
  const sessionId = job.session_id ?? "";
  const summary = job.summary ?? undefined;
  return success
    ? { success, sessionId, summary, job }
    : { success, sessionId, summary, error: errorOf(job, seen), job };
}

function errorOf(job: Job, { cause, sdkMessage }: SeenErrors): RunnerError {
  const outcome = job.outcome ?? { code: "interrupted" as const, ...outcomes.interrupted };
  const { message } = outcome;
  // Without an attempt, the error comes from herdctl's own preparation.
  const error =
    cause instanceof CallbackError
      ? new RunnerError(message, job.id, cause.cause)
      : job.attempts > 0
        ? new SDKError(message, job.id, sdkMessage, cause)
        : new RunnerError(message, job.id, cause);
  error.outcome = outcome;
  return error;
}

/** The result of a run that failed outside of its runtime. */
function failure(jobId: string, cause: unknown, job?: Job): RunnerResult {
  const message = cause instanceof Error ? cause.message : String(cause);
  const error = cause instanceof RunnerError ? cause : new RunnerError(message, jobId, cause);
  if (job?.outcome && isFinished(job.status)) error.outcome = job.outcome;
  return { success: false, sessionId: job?.session_id ?? "", error, job };
}

/**
 * Records the end of runs whose program was killed, and removes their processes and containers. Runs
 * of a fleet are left to that fleet.
 */
async function settleDeadRuns(
  state: StateManager,
  agent: ResolvedAgent,
  environment: Environment,
): Promise<void> {
  for (const { id, status } of await state.jobs.listLive()) {
    if (status === "pending") continue;
    const job = await state.jobs.get(id);
    if (!job) continue;
    const claim = await readClaim(state.jobDir(id), job.attempts);
    if (claim.kind !== "found" || !isDeadStandalone(claim.file)) continue;
    await settleDeadRun(state, job, claim.file, { agent, environment });
  }
}

function isDeadStandalone({ standalone, runner }: RunnerClaim): boolean {
  return standalone === true && runner !== null && !isAlive(runner);
}

async function settleDeadRun(
  state: StateManager,
  job: Job,
  { run, runner }: RunnerClaim,
  { agent, environment }: { agent: ResolvedAgent; environment: Environment },
): Promise<void> {
  const configured = agent.name === job.agent ? agent : undefined;
  const { stateDir } = state;
  const report = await collectRunReport({ stateDir, job, environment, agent: configured });
  const context = {
    agent: job.agent,
    place: job.session_home ?? "cli",
    cwd: run?.cwd ?? "",
    configDir: run?.config_dir ?? "",
    expiresAfterMs: agent.session.expires,
    ownerSchedule: null,
    isChat: false,
  };
  const holder = { ...(runner ?? unknownProcess), job_id: job.id };
  const next = { kind: "finish" as const, outcome: report.outcome };
  await skipHooks(state, await settleRun(state, report, context, holder, next));
}

const unknownProcess = { pid: 0, start_time: "", boot_id: "" };
