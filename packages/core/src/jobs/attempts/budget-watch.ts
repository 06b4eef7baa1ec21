import type { Fleet } from "@herdctl/config";
import { type FleetSpending, type Job, Mutex } from "@herdctl/protocol";
import { zeroAmounts } from "@herdctl/protocol/schemas";
import type { SpendAmount, SpendLimit, SpendPlan } from "../../runner/contract/run-order.ts";
import type { StateManager } from "../../store/state-manager.ts";
import { type Budget, effectiveLimits, today } from "../admission/decide-admission.ts";

interface BudgetWatchOptions {
  state: StateManager;
  fleet(): Fleet;
  reportError(message: string, cause?: unknown): void;
}

/** A run that receives its limits as they change. */
export interface WatchedRun {
  report(spent: SpendAmount): void;
  /** Ends the watch. From now on the recorded cost counts. */
  close(): void;
}

interface LimitedRun extends RunInFlight {
  /**
   * The job is in a chain or can start one. Fixed when the run starts, whatever a reload changes.
   */
  isInChain: boolean;
}

type OpenRun = LimitedRun & {
  lastSentJson: string;
  sendLimits(limits: readonly SpendLimit[]): void;
};

const refreshDelayMs = 50;
/** A new day starts without an event. */
const pollIntervalMs = 30_000;

/** Sends every running job the limits that it shares with others, whenever they change. */
export class BudgetWatch {
  private readonly runs = new Set<OpenRun>();
  private readonly pollTimer: NodeJS.Timeout;
  private refreshTimer: NodeJS.Timeout | undefined;
  private readonly reading = new Mutex();

  constructor(private readonly options: BudgetWatchOptions) {
    this.pollTimer = setInterval(() => this.refresh(), pollIntervalMs).unref();
  }

  /** The limits and prices that a job starts with. */
  async planFor(job: Job): Promise<SpendPlan> {
    const run = this.limitedRunOf(job);
    const spending = await this.spending([run]);
    return { limits: await this.limitsOf(run, spending), prices: this.options.fleet().prices };
  }

  watch(job: Job, sendLimits: OpenRun["sendLimits"]): WatchedRun {
    const run: OpenRun = { ...this.limitedRunOf(job), sendLimits, lastSentJson: "" };
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

  /** Reads the budgets soon; several events share one read. */
  refresh(): void {
    this.refreshTimer ??= this.scheduleRead(refreshDelayMs);
  }

  stop(): void {
    clearTimeout(this.refreshTimer);
    clearInterval(this.pollTimer);
    this.runs.clear();
  }

  /** One read at a time, so that an older result never replaces a newer one. */
  private scheduleRead(delayMs: number): NodeJS.Timeout {
    return setTimeout(() => {
      void this.reading.runExclusive(async () => {
        this.refreshTimer = undefined;
        await this.readAndSend().catch((error) => {
          if (this.runs.size === 0) return;
          this.options.reportError("Failed to read the remaining budgets", error);
        });
      });
    }, delayMs).unref();
  }

  private async readAndSend(): Promise<void> {
    if (this.runs.size === 0) return;
    const runs = [...this.runs];
    const spending = await this.spending(runs);
    for (const run of runs) {
      const limits = await this.limitsOf(run, spending);
      const text = JSON.stringify(limits);
      if (text === run.lastSentJson || !this.runs.has(run)) continue;
      run.lastSentJson = text;
      run.sendLimits(limits);
    }
  }

  private async spending(runs: readonly RunInFlight[]): Promise<FleetSpending> {
    const fleet = this.options.fleet();
    const budgets = [fleet.fleet.budget, ...runs.map(({ agent }) => budgetOf(fleet, agent))];
    if (!budgets.some(hasDailyLimit)) return noSpending;
    return this.options.state.budgets.getSpending(today(fleet));
  }

  private async limitsOf(run: LimitedRun, spending: FleetSpending): Promise<SpendLimit[]> {
    const fleet = this.options.fleet();
    const budgets = { fleet: fleet.fleet.budget, agent: budgetOf(fleet, run.agent) };
    const chain = await this.chainOf(run);
    return sharedLimits({ run, budgets, spending, chain, inFlight: [...this.runs] });
  }

  /**
   * Recorded cost of the chain's ended attempts. Running attempts count with the spending they
   * report.
   */
  private async chainOf(run: LimitedRun): Promise<SpendFacts["chain"]> {
    if (!run.isInChain) return undefined;
    const jobs = await this.options.state.jobs.listChain(run.chainId);
    const usd = jobs.reduce((all, { cost_usd }) => all + (cost_usd ?? 0), 0);
    return { limit: this.options.fleet().fleet.chain.max_cost_usd, usd };
  }

  private limitedRunOf({ id: jobId, agent, chain }: Job): LimitedRun {
    const { agents } = this.options.fleet();
    const canDelegate = agents.some(
      ({ name, tools }) => name === agent && tools.includes("delegate"),
    );
    const spent = { usd: 0, tokens: 0 };
    return {
      jobId,
      agent,
      chainId: chain.id,
      spent,
      isInChain: /* defence: chain-spend-limit */ chain.depth > 0 || canDelegate,
    };
  }
}

function budgetOf({ agents }: Fleet, agent: string) {
  return agents.find(({ name }) => name === agent)?.budget ?? {};
}

const noSpending: FleetSpending = {
  agents: new Map(),
  fleet: { ...zeroAmounts, reserved_usd: 0, raised: zeroAmounts },
};

/** A run in progress, with what its gateway has metered so far. */
export interface RunInFlight {
  jobId: string;
  agent: string;
  chainId: string;
  spent: SpendAmount;
}

/** The facts that decide the limits of one run. */
export interface SpendFacts {
  run: RunInFlight;
  budgets: { fleet: Budget; agent: Budget };
  /** From the records of the runs that ended today. */
  spending: FleetSpending;
  /** Limit and recorded cost of the run's chain; undefined if the run cannot be part of one. */
  chain?: { limit: number; usd: number };
  /** All runs in progress on this machine; may include this one. */
  inFlight: readonly RunInFlight[];
}

/**
 * The limits that a run shares with others. Its own spending is part of each ceiling, so a ceiling
 * stays correct while the run spends.
 */
export function sharedLimits({
  run,
  budgets,
  spending,
  chain,
  inFlight,
}: SpendFacts): SpendLimit[] {
  const others = inFlight.filter(({ jobId }) => jobId !== run.jobId);
  const ownChain = others.filter(({ chainId }) => chainId === run.chainId);
  const ownAgent = others.filter(({ agent }) => agent === run.agent);
  const agentSpending = spending.agents.get(run.agent);
  return [
    ...(chain ? [chainLimit(chain.limit, chain.usd + totalSpent(ownChain).usd)] : []),
    ...dailyLimits("agent", budgets.agent, agentSpending, totalSpent(ownAgent)),
    ...dailyLimits("fleet", budgets.fleet, spending.fleet, totalSpent(others)),
  ];
}

function chainLimit(limit: number, used: number): SpendLimit {
  const amounts = { limit, ceiling: remaining(limit, used) };
  return { key: "chain.max_cost_usd", scope: "chain", unit: "usd", ...amounts };
}

function dailyLimits(
  scope: "agent" | "fleet",
  budget: Budget,
  recorded: FleetSpending["fleet"] | undefined,
  others: SpendAmount,
): SpendLimit[] {
  const spent = recorded ?? { ...zeroAmounts, raised: zeroAmounts };
  const limits = effectiveLimits(budget, spent.raised);
  return (["usd", "tokens"] as const).flatMap((unit): SpendLimit[] => {
    const limit = limits[unit];
    if (limit === undefined) return [];
    const ceiling = remaining(limit, /* defence: shared-spend-limit */ spent[unit] + others[unit]);
    return [{ key: `budget.daily_${unit}`, scope, unit, limit, ceiling }];
  });
}

function remaining(limit: number, used: number): number {
  return Math.max(0, limit - used);
}

function totalSpent(runs: readonly RunInFlight[]): SpendAmount {
  const total = { usd: 0, tokens: 0 };
  for (const { spent } of runs) {
    total.usd += spent.usd;
    total.tokens += spent.tokens;
  }
  return total;
}

/** Whether daily spending must be read. */
function hasDailyLimit({ daily_usd, daily_tokens }: Budget): boolean {
  return daily_usd !== undefined || daily_tokens !== undefined;
}
