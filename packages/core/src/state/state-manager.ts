import { join, resolve } from "node:path";
import { UserError } from "../errors/user-error.ts";
import type {
  ApprovalStore,
  BudgetStore,
  ChatStore,
  DeliveryStore,
  HookStore,
  JobStore,
  PauseStore,
  ScheduleStore,
  SessionStore,
  WorkStore,
} from "./contract.ts";
import { ensureFolder } from "./folder.ts";
import { checkJobId } from "./names.ts";
import { outputName } from "./output-writer.ts";
import type { SqlDatabase } from "./sql/sql-database.ts";
import { makeStores, type Stores } from "./sql/stores.ts";
import type { Database } from "./sqlite/database.ts";
import { openForReading, openForWriting, setAside } from "./sqlite/open.ts";

export interface OpenOptions {
  readOnly?: boolean;
  /** On which day a moment counts; by UTC when nobody says so. */
  dayName?: (at: Date) => string;
  /** Only on a person's word: a damaged database is moved aside and an empty one begun. */
  setAsideDamaged?: boolean;
}

/** A state directory: where everything lies, and its stores while it is open. */
export class StateManager {
  readonly stateDir: string;
  /** What `open` moved out of the way, if it had to. */
  setAside: string | undefined;
  #stores: (Stores & { database: SqlDatabase }) | undefined;

  constructor(stateDir: string) {
    this.stateDir = resolve(stateDir);
  }

  /** Home of each agent's containers; never shared with the host. */
  get dockerSessionsDir(): string {
    return join(this.stateDir, "docker-sessions");
  }

  get logsDir(): string {
    return join(this.stateDir, "logs");
  }

  jobDir(id: string): string {
    return join(this.stateDir, "jobs", checkJobId(id));
  }

  get jobs(): JobStore {
    return this.#opened.jobs;
  }

  get sessions(): SessionStore {
    return this.#opened.sessions;
  }

  get approvals(): ApprovalStore {
    return this.#opened.approvals;
  }

  get pauses(): PauseStore {
    return this.#opened.pauses;
  }

  get schedules(): ScheduleStore {
    return this.#opened.schedules;
  }

  get budgets(): BudgetStore {
    return this.#opened.budgets;
  }

  get deliveries(): DeliveryStore {
    return this.#opened.deliveries;
  }

  get hooks(): HookStore {
    return this.#opened.hooks;
  }

  get work(): WorkStore {
    return this.#opened.work;
  }

  get chat(): ChatStore {
    return this.#opened.chat;
  }

  async open(options: OpenOptions = {}): Promise<this> {
    if (this.#stores) return this;
    const database = this.#openDatabase(options);
    const outputFile = (id: string) => join(this.jobDir(id), outputName);
    const { dayName } = options;
    this.#stores = { database, ...makeStores(database, { outputFile, dayName }) };
    return this;
  }

  async close(): Promise<void> {
    const database = this.#stores?.database;
    this.#stores = undefined;
    await database?.close();
  }

  get #opened(): Stores {
    if (!this.#stores) throw new Error(`the state in ${this.stateDir} is not open`);
    return this.#stores;
  }

  #openDatabase(options: OpenOptions): Database {
    const file = join(this.stateDir, "herd.db");
    if (options.readOnly) return openForReading(file);
    ensureFolder(this.stateDir);
    try {
      return openForWriting(file);
    } catch (error) {
      const isDamaged = error instanceof UserError && error.code === "state_damaged";
      if (!isDamaged || !options.setAsideDamaged) throw error;
      this.setAside = setAside(file, new Date());
      return openForWriting(file);
    }
  }
}
