import type { TokenStore } from "../access-token.ts";
import type { AuditStore } from "../audit.ts";
import type {
  ApprovalStore,
  BudgetStore,
  ChatStore,
  DeliveryStore,
  HookStore,
  PauseStore,
  SessionStore,
  WorkStore,
} from "../contract.ts";
import type { JobStore } from "../job-store.ts";
import type { Liveness } from "../lease.ts";
import type { LoginStore } from "../login.ts";
import { isAlive } from "../process-identity.ts";
import type { ScheduleStore } from "../schedule-store.ts";
import { dayInUtc } from "../spending.ts";
import { SqlApprovalStore } from "./approval-store.ts";
import { SqlAuditStore } from "./audit-store.ts";
import { SqlBudgetStore } from "./budget-store.ts";
import { SqlChatStore } from "./chat-store.ts";
import { SqlDeliveryStore } from "./delivery-store.ts";
import { SqlHookStore } from "./hook-store.ts";
import { SqlJobStore } from "./job-store.ts";
import { SqlLoginStore } from "./login-store.ts";
import { SqlPauseStore } from "./pause-store.ts";
import { SqlScheduleStore } from "./schedule-store.ts";
import { SqlSessionStore } from "./session-store.ts";
import type { SqlDatabase } from "./sql-database.ts";
import { SqlTokenStore } from "./token-store.ts";
import { SqlWorkStore } from "./work-store.ts";

export interface Stores {
  jobs: JobStore;
  sessions: SessionStore;
  approvals: ApprovalStore;
  pauses: PauseStore;
  schedules: ScheduleStore;
  budgets: BudgetStore;
  deliveries: DeliveryStore;
  hooks: HookStore;
  work: WorkStore;
  chat: ChatStore;
  tokens: TokenStore;
  logins: LoginStore;
  audit: AuditStore;
}

interface StoresFrame extends Partial<Liveness> {
  clock?: () => Date;
  outputFile: (id: string) => string;
  /** On which day a moment counts; by UTC when nobody says so. */
  dayName?: (at: Date) => string;
}

export function makeStores(database: SqlDatabase, frame: StoresFrame): Stores {
  const { clock = () => new Date(), outputFile, dayName = dayInUtc } = frame;
  const liveness = {
    isAlive: frame.isAlive ?? isAlive,
    isNodeGone: frame.isNodeGone ?? (() => false),
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
    work: new SqlWorkStore(database, clock),
    chat: new SqlChatStore(database, clock),
    tokens: new SqlTokenStore(database, clock),
    logins: new SqlLoginStore(database, clock),
    audit: new SqlAuditStore(database, clock),
  };
}
