import type { BudgetAmounts, BudgetDay, FleetSpending } from "@herdctl/protocol";
import { formatUtcDay } from "@herdctl/protocol/schemas";
import { isAlive } from "../../lib/process-identity.ts";
import { type Pause, type PauseSubject, pauseSchema } from "../model/pause.ts";
import type { Liveness } from "../model/session-lease.ts";
import { LoginStore, TokenStore } from "./access-store.ts";
import { ApprovalStore } from "./approval-store.ts";
import { AuditStore } from "./audit-store.ts";
import { ChatStore } from "./chat-store.ts";
import { DeliveryStore } from "./delivery-store.ts";
import { HookStore } from "./hook-store.ts";
import { JobRecords } from "./job-records.ts";
import { JobStore } from "./job-store.ts";
import { PushStore } from "./push-store.ts";
import { RuleStore } from "./rule-store.ts";
import { ScheduleStore } from "./schedule-store.ts";
import { SearchStore } from "./search-store.ts";
import { SessionStore } from "./session-store.ts";
import type { CostQuery, DayCost } from "./spending.ts";
import { raiseBudget, readDayCosts, readSpending } from "./spending.ts";
import type { SqlDatabase } from "./sql-program.ts";
import { execute, queryRows, readRecord, SqlStore } from "./sql-program.ts";
import { WorkClaimStore } from "./work-claim-store.ts";

/**
 * The state for the rest of the engine. Each call is one transaction, or an atomic part of one, and
 * durable when its promise resolves. A call that reads before it writes does both inside. Calls are
 * asynchronous for PostgreSQL and for group commit; otherwise SQLite answers synchronously.
 */
export interface Stores {
  jobs: JobStore;
  sessions: SessionStore;
  approvals: ApprovalStore;
  rules: RuleStore;
  push: PushStore;
  pauses: PauseStore;
  schedules: ScheduleStore;
  budgets: BudgetStore;
  deliveries: DeliveryStore;
  hooks: HookStore;
  workClaims: WorkClaimStore;
  chat: ChatStore;
  tokens: TokenStore;
  logins: LoginStore;
  audit: AuditStore;
  search: SearchStore;
}

interface CreateStoresOptions extends Partial<Liveness> {
  clock?: () => Date;
  outputFile: (id: string) => string;
  /** The day to which a time belongs; by default in UTC. */
  dayName?: (at: Date) => string;
}

export function createStores(database: SqlDatabase, options: CreateStoresOptions): Stores {
  const { clock = () => new Date(), outputFile, dayName = formatUtcDay } = options;
  const liveness = {
    isAlive: options.isAlive ?? isAlive,
    isNodeGone: options.isNodeGone ?? (() => false),
  };
  return {
    jobs: new JobStore(database, { clock, outputFile, dayName, liveness }),
    sessions: new SessionStore(database, clock, liveness),
    approvals: new ApprovalStore(database, clock),
    rules: new RuleStore(database, clock),
    push: new PushStore(database, clock),
    pauses: new PauseStore(database, clock),
    schedules: new ScheduleStore(database, clock),
    budgets: new BudgetStore(database, clock),
    deliveries: new DeliveryStore(database, clock),
    hooks: new HookStore(database, clock),
    workClaims: new WorkClaimStore(database, clock),
    chat: new ChatStore(database, clock),
    tokens: new TokenStore(database, clock),
    logins: new LoginStore(database, clock),
    audit: new AuditStore(database, clock),
    search: new SearchStore(database, new JobRecords(database, clock, outputFile)),
  };
}

class BudgetStore extends SqlStore {
  async getSpending(day: BudgetDay): Promise<FleetSpending> {
    return this.database.read(() => readSpending(this.database, day));
  }

  /** Adds to earlier raises of the day; without an agent, for the whole fleet. */
  async raise(
    day: BudgetDay,
    agent: string | undefined,
    amounts: Partial<BudgetAmounts>,
  ): Promise<void> {
    await this.database.transaction(() => raiseBudget(this.database, day, agent, amounts));
  }

  /** Costs of runs that ended on these days, earliest day first. */
  async listCosts(query: CostQuery): Promise<DayCost[]> {
    return this.database.read(() => readDayCosts(query));
  }
}

class PauseStore extends SqlStore {
  /** True only if it was not paused before: the first pause stays until it is lifted. */
  async pause(subject: PauseSubject, reason: Pause["reason"], message: string): Promise<boolean> {
    const since = this.clock().toISOString();
    const pause = pauseSchema.parse({ subject, reason, message, since });
    const sql = "INSERT INTO pauses (subject, record) VALUES (?, ?) ON CONFLICT DO NOTHING";
    const record = JSON.stringify(pause);
    return (await this.database.transaction(() => execute(sql, subject, record))) > 0;
  }

  /** False if it was not paused. */
  async lift(subject: PauseSubject): Promise<boolean> {
    const sql = "DELETE FROM pauses WHERE subject = ?";
    return (await this.database.transaction(() => execute(sql, subject))) > 0;
  }

  /** Oldest first. */
  async list(): Promise<Pause[]> {
    const sql = "SELECT subject AS id, record FROM pauses ORDER BY rowid";
    const rows = await this.database.read(() => queryRows(sql));
    return rows.map((row) => readRecord(this.database, pauseSchema, row));
  }
}
