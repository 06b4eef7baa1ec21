import type { Fleet, ResolvedAgent } from "@herdctl/config";
import { type Job, outcomes } from "@herdctl/protocol";
import { admit } from "../jobs/admission/admit.ts";
import { sharedLimits } from "../jobs/attempts/spend-limits.ts";
import { dayOf } from "../lib/time-zone.ts";
import { RunnerError, SDKError } from "../runner/contract/errors.ts";
import type { SpendPlan } from "../runner/contract/spend-plan.ts";
import { newJobId } from "../store/model/ids.ts";
import { StateManager } from "../store/state-manager.ts";
import { type JobCallbacks, runJob, skipHooks } from "./run-job.ts";

export interface RunnerOptions extends Omit<JobCallbacks, "onError"> {
  agent: ResolvedAgent;
  prompt: string;
  jobId: string;
  /** The `.herdctl` folder. */
  stateDir: string;
  /** The schedule to run, which may require a report. */
  schedule?: string;
  /** A session to resume. */
  resume?: string;
  /** Fork the session instead of resuming it. */
  fork?: boolean;
  /** With `fork`: the last message to copy to the new session. */
  forkAt?: string;
  signal?: AbortSignal;
  environment?: NodeJS.ProcessEnv;
  claudePath?: string;
  /** Budget of the whole fleet, and the time zone of its days. The agent's own budget always applies. */
  fleet?: Partial<Pick<Fleet["fleet"], "budget" | "timezone"> & Pick<Fleet, "prices">>;
}

export interface RunnerResult {
  success: boolean;
  sessionId: string;
  summary?: string;
  error?: RunnerError;
  job: Job;
}

/**
 * Runs an agent in this process, with the same admission and budgets as in a fleet. There are no
 * hooks, gates or retries: the caller receives the result directly.
 */
export async function runAgent(options: RunnerOptions): Promise<RunnerResult> {
  const {
    agent,
    prompt,
    jobId,
    resume,
    fork,
    forkAt,
    signal = new AbortController().signal,
  } = options;
  const dayAt = (at: Date) => dayOf(at, options.fleet?.timezone);
  const state = await new StateManager(options.stateDir).open({ dayName: (at) => dayAt(at).name });
  try {
    const session = fork ? { fork: resume, forkAt } : { resume };
    const request = {
      trigger: "manual" as const,
      agent: agent.name,
      schedule: options.schedule,
      prompt,
      jobId,
      ...session,
    };
    const rules = { day: () => dayAt(new Date()), budget: options.fleet?.budget };
    const { job } = await admit(state, [agent], request, rules);
    if (job.status === "skipped") return resultOf(await skipHooks(state, job), undefined);
    const { environment = process.env, claudePath } = options;
    let cause: unknown;
    const onError = (error: unknown) => {
      cause = error;
    };
    const { fleet = {} } = options;
    const spend = async (): Promise<SpendPlan> => ({
      limits: sharedLimits({
        run: { jobId, agent: agent.name, chainId: job.chain.id, spent: { usd: 0, tokens: 0 } },
        budgets: { fleet: fleet.budget ?? {}, agent: agent.budget },
        spending: await state.budgets.getSpending(dayAt(new Date())),
        inFlight: [],
      }),
      prices: fleet.prices ?? {},
    });
    const run = { state, job, agent, environment, claudePath, signal, spend };
    return resultOf(await runJob(run, { ...options, onError }), cause);
  } finally {
    await state.close();
  }
}

/** Runs one agent repeatedly. */
export class AgentRunner {
  constructor(
    private readonly options: Omit<
      RunnerOptions,
      "prompt" | "jobId" | "resume" | "fork" | "forkAt"
    >,
  ) {}

  run(prompt: string): Promise<RunnerResult> {
    return runAgent({ ...this.options, prompt, jobId: newJobId(new Date()) });
  }

  resume(sessionId: string, prompt: string): Promise<RunnerResult> {
    return runAgent({ ...this.options, prompt, jobId: newJobId(new Date()), resume: sessionId });
  }

  fork(sessionId: string, prompt: string, at?: string): Promise<RunnerResult> {
    return runAgent({
      ...this.options,
      prompt,
      jobId: newJobId(new Date()),
      resume: sessionId,
      fork: true,
      forkAt: at,
    });
  }
}

function resultOf(job: Job, cause: unknown): RunnerResult {
  const success = job.status === "completed";
  const sessionId = job.session_id ?? "";
  const summary = job.summary ?? undefined;
  return success
    ? { success, sessionId, summary, job }
    : { success, sessionId, summary, error: errorOf(job, cause), job };
}

function errorOf(job: Job, cause: unknown): RunnerError {
  const outcome = job.outcome ?? { code: "interrupted" as const, ...outcomes.interrupted };
  // Without an attempt, the error comes from herdctl's own preparation.
  const ErrorClass = job.attempts > 0 ? SDKError : RunnerError;
  return new ErrorClass(outcome.message, job.id, outcome, cause);
}
