import type { Fleet } from "../config/load.ts";
import type { ResolvedAgent } from "../config/resolve.ts";
import { admit } from "../queue/admit.ts";
import { RunnerError, SDKError } from "../runner/errors.ts";
import { outcomes } from "../runner/outcomes.ts";
import type { SpendPlan } from "../runner/spend-plan.ts";
import type { Job } from "../state/job.ts";
import { newJobId } from "../state/names.ts";
import { StateManager } from "../state/state-manager.ts";
import { dayOf } from "../triggers/schedule/day.ts";
import { type JobWatch, performJob, withoutHooks } from "./perform-job.ts";
import { sharedLimits } from "./spend-limits.ts";

export interface RunnerOptions extends Omit<JobWatch, "onError"> {
  agent: ResolvedAgent;
  prompt: string;
  jobId: string;
  /** The `.herdctl` folder. */
  stateDir: string;
  /** The one of its schedules that this is a job of, which may demand a report. */
  schedule?: string;
  /** A session to go on with. */
  resume?: string;
  /** Branch off from the session instead of writing to it. */
  fork?: boolean;
  /** With `fork`: the last message that the new session takes over. */
  forkAt?: string;
  signal?: AbortSignal;
  environment?: NodeJS.ProcessEnv;
  claudePath?: string;
  /** Limits of all agents together, and the time zone of their day; those of the agent hold anyway. */
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
 * Runs an agent in this process, by the same road as the fleet does: budgets hold. It has no hooks,
 * no gate and no second attempt: whoever calls has the result in hand.
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
    if (job.status === "skipped") return resultOf(await withoutHooks(state, job), undefined);
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
        spending: await state.budgets.spending(dayAt(new Date())),
        inFlight: [],
      }),
      prices: fleet.prices ?? {},
    });
    const run = { state, job, agent, environment, claudePath, signal, spend };
    return resultOf(await performJob(run, { ...options, onError }), cause);
  } finally {
    await state.close();
  }
}

/** One agent, run again and again. */
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
  // Before an attempt began, nothing but our own preparation can have failed.
  const Kind = job.attempts > 0 ? SDKError : RunnerError;
  return new Kind(outcome.message, job.id, outcome, cause);
}
