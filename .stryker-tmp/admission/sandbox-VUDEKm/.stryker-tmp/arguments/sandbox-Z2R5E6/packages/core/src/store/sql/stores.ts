import type { BudgetAmounts, BudgetDay, FleetSpending } from "@herdctl/protocol";
import { formatUtcDay } from "@herdctl/protocol/schemas";
import { isAlive } from "../../lib/process-identity.ts";
import type { JobStore } from "../contracts/job-store.ts";
import type { LoginStore } from "../contracts/login-store.ts";
import type { ScheduleStore } from "../contracts/schedule-store.ts";
import type {
  ApprovalStore,
  BudgetStore,
  ChatStore,
  DeliveryStore,
  HookStore,
  PauseStore,
  SessionStore,
  WorkClaimStore,
} from "../contracts/stores.ts";
import type { TokenStore } from "../contracts/token-store.ts";
import type { AuditStore } from "../model/audit-log.ts";
import type { CostQuery, DayCost } from "../model/cost.ts";
import { type Pause, type PauseSubject, pauseSchema } from "../model/pause.ts";
import type { Liveness } from "../model/session-lease.ts";
import { SqlApprovalStore } from "./approval-store.ts";
import { SqlAuditStore } from "./audit-store.ts";
import { SqlChatStore } from "./chat-store.ts";
import { readDayCosts } from "./day-costs.ts";
import { SqlDeliveryStore } from "./delivery-store.ts";
import { SqlHookStore } from "./hook-store.ts";
import { SqlJobStore } from "./job-store.ts";
import { SqlLoginStore } from "./login-store.ts";
import { readRecord } from "./read-record.ts";
import { SqlScheduleStore } from "./schedule-store.ts";
import { SqlSessionStore } from "./session-store.ts";
import { raiseBudget, readSpending } from "./spending.ts";
import type { SqlDatabase } from "./sql-database.ts";
import { execute, queryRows } from "./sql-program.ts";
import { SqlTokenStore } from "./token-store.ts";
import { SqlWorkClaimStore } from "./work-claim-store.ts";

export interface Stores {
  jobs: JobStore;
  sessions: SessionStore;
  approvals: ApprovalStore;
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
    jobs: new SqlJobStore(database, { clock, outputFile, dayName, liveness }),
    sessions: new SqlSessionStore(database, clock, liveness),
    approvals: new SqlApprovalStore(database, clock),
    pauses: new SqlPauseStore(database, clock),
    schedules: new SqlScheduleStore(database, clock),
    budgets: new SqlBudgetStore(database),
    deliveries: new SqlDeliveryStore(database, clock),
    hooks: new SqlHookStore(database, clock),
    workClaims: new SqlWorkClaimStore(database, clock),
    chat: new SqlChatStore(database, clock),
    tokens: new SqlTokenStore(database, clock),
    logins: new SqlLoginStore(database, clock),
    audit: new SqlAuditStore(database, clock),
  };
}

class SqlBudgetStore implements BudgetStore {
  readonly #database: SqlDatabase;

  constructor(database: SqlDatabase) {
    this.#database = database;
  }

  async getSpending(day: BudgetDay): Promise<FleetSpending> {
    return this.#database.read(() => readSpending(this.#database, day));
  }

  async raise(
    day: BudgetDay,
    agent: string | undefined,
    amounts: Partial<BudgetAmounts>,
  ): Promise<void> {
    await this.#database.transaction(() => raiseBudget(this.#database, day, agent, amounts));
  }

  async listCosts(query: CostQuery): Promise<DayCost[]> {
    return this.#database.read(() => readDayCosts(query));
  }
}

class SqlPauseStore implements PauseStore {
  readonly #database: SqlDatabase;
  readonly #clock: () => Date;

  constructor(database: SqlDatabase, clock: () => Date) {
    this.#database = database;
    this.#clock = clock;
  }

  async pause(subject: PauseSubject, reason: Pause["reason"], message: string): Promise<boolean> {
    const since = this.#clock().toISOString();
    const pause = pauseSchema.parse({ subject, reason, message, since });
    const sql = "INSERT INTO pauses (subject, record) VALUES (?, ?) ON CONFLICT DO NOTHING";
    const record = JSON.stringify(pause);
    return (await this.#database.transaction(() => execute(sql, subject, record))) > 0;
  }

  async lift(subject: PauseSubject): Promise<boolean> {
    const sql = "DELETE FROM pauses WHERE subject = ?";
    return (await this.#database.transaction(() => execute(sql, subject))) > 0;
  }

  async list(): Promise<Pause[]> {
    const sql = "SELECT subject AS id, record FROM pauses ORDER BY rowid";
    const rows = await this.#database.read(() => queryRows(sql));
    return rows.map((row) => readRecord(this.#database, pauseSchema, row));
  }
}
