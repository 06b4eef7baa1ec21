import type { Fleet } from "../config/load.ts";
import type { Amount, SpendLimit, SpendPlan } from "../runner/spend-plan.ts";
import type { Job } from "../state/job.ts";
import { nothing, type Spending } from "../state/spending.ts";
import type { StateManager } from "../state/state-manager.ts";
import { today } from "./budget-view.ts";
import { hasDailyLimit, type RunInFlight, sharedLimits } from "./spend-limits.ts";

export interface BudgetWatchOptions {
  state: StateManager;
  fleet(): Fleet;
  trouble(message: string, cause?: unknown): void;
}

/** A run that receives its limits as they change. */
export interface WatchedRun {
  report(spent: Amount): void;
  /** From here on its recorded cost counts. */
  close(): void;
}

type OpenRun = RunInFlight & { job: Job; told: string; tell(limits: readonly SpendLimit[]): void };

const refreshDelayMs = 50;
/** A new day begins without an event. */
const pollIntervalMs = 30_000;

/** Sends every running job the limits that it shares with others, whenever they change. */
export class BudgetWatch {
  private readonly runs = new Set<OpenRun>();
  private readonly poll: NodeJS.Timeout;
  private timer: NodeJS.Timeout | undefined;
  private looking: Promise<void> = Promise.resolve();

  constructor(private readonly options: BudgetWatchOptions) {
    this.poll = setInterval(() => this.refresh(), pollIntervalMs).unref();
  }

  /** The limits and prices that a job starts with. */
  async planFor(job: Job): Promise<SpendPlan> {
    const run = { ...inFlight(job), job };
    const spending = await this.spending([run]);
    return { limits: await this.limitsOf(run, spending), prices: this.options.fleet().prices };
  }

  watch(job: Job, tell: OpenRun["tell"]): WatchedRun {
    const run: OpenRun = { ...inFlight(job), job, tell, told: "" };
    this.runs.add(run);
    this.refresh();
    return {
      report: (spent) => {
        run.spent = spent;
        this.refresh();
      },
      close: () => {
        if (this.runs.delete(run)) this.refresh();
      },
    };
  }

  /** Reads the budgets soon, once for several events. */
  refresh(): void {
    this.timer ??= this.later(refreshDelayMs);
  }

  stop(): void {
    clearTimeout(this.timer);
    clearInterval(this.poll);
    this.runs.clear();
  }

  /** One read at a time, so that an older result never replaces a newer one. */
  private later(delayMs: number): NodeJS.Timeout {
    return setTimeout(() => {
      this.looking = this.looking.then(async () => {
        this.timer = undefined;
        await this.look().catch((error) => {
          if (this.runs.size === 0) return;
          this.options.trouble("Failed to read what is left of budgets", error);
        });
      });
    }, delayMs).unref();
  }

  private async look(): Promise<void> {
    if (this.runs.size === 0) return;
    const runs = [...this.runs];
    const spending = await this.spending(runs);
    for (const run of runs) {
      const limits = await this.limitsOf(run, spending);
      const text = JSON.stringify(limits);
      if (text === run.told || !this.runs.has(run)) continue;
      run.told = text;
      run.tell(limits);
    }
  }

  private async spending(runs: readonly RunInFlight[]): Promise<Spending> {
    const fleet = this.options.fleet();
    const budgets = [fleet.fleet.budget, ...runs.map(({ agent }) => budgetOf(fleet, agent))];
    if (!budgets.some(hasDailyLimit)) return noSpending;
    return this.options.state.budgets.spending(today(fleet));
  }

  private async limitsOf(
    run: RunInFlight & { job: Job },
    spending: Spending,
  ): Promise<SpendLimit[]> {
    const fleet = this.options.fleet();
    const budgets = { fleet: fleet.fleet.budget, agent: budgetOf(fleet, run.agent) };
    const chain = await this.chainOf(run.job);
    return sharedLimits({ run, budgets, spending, chain, inFlight: [...this.runs] });
  }

  /** A job that no agent has handed on is no chain. */
  private async chainOf({ chain }: Job): Promise<{ limit: number; usd: number } | undefined> {
    if (chain.depth === 0) return undefined;
    const jobs = await this.options.state.jobs.chain(chain.id);
    const usd = jobs.reduce((all, { cost_usd }) => all + (cost_usd ?? 0), 0);
    return { limit: this.options.fleet().fleet.chain.max_cost_usd, usd };
  }
}

function inFlight(job: Job): RunInFlight {
  const { id: jobId, agent, chain } = job;
  return { jobId, agent, chainId: chain.id, spent: { usd: 0, tokens: 0 } };
}

function budgetOf({ agents }: Fleet, agent: string) {
  return agents.find(({ name }) => name === agent)?.budget ?? {};
}

const noSpending: Spending = {
  agents: new Map(),
  fleet: { ...nothing, reserved_usd: 0, raised: nothing },
};
