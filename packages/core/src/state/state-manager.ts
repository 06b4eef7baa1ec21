import { join, resolve } from "node:path";
import { UserError } from "../errors/user-error.ts";
import { ensureStateDir } from "./folder.ts";
import { checkJobId } from "./names.ts";
import { outputName } from "./output-writer.ts";
import { assertOwned } from "./ownership.ts";
import type { SharedStore } from "./shared.ts";
import type { SqlDatabase } from "./sql/sql-database.ts";
import { makeStores, type Stores } from "./sql/stores.ts";
import type { Database } from "./sqlite/database.ts";
import { openForReading, openForWriting, setAside } from "./sqlite/open.ts";

export interface OpenOptions {
  readOnly?: boolean;
  /** Address of the PostgreSQL that nodes share; without it the state is in a file of its own. */
  store?: string;
  /** Whether a node of the shared store is no longer there, as far as is known here. */
  isNodeGone?: (node: string) => boolean;
  /** On which day a moment counts; by UTC when nobody says so. */
  dayName?: (at: Date) => string;
  /** Only on a person's word: a damaged database is moved aside and an empty one begun. */
  setAsideDamaged?: boolean;
}

interface OpenedDatabase {
  database: SqlDatabase;
  shared?: SharedStore;
  close(): Promise<void>;
}

/** A state directory: where everything lies, and its stores while it is open. */
export class StateManager {
  readonly stateDir: string;
  /** What `open` moved out of the way, if it had to. */
  setAside: string | undefined;
  #stores: (Stores & OpenedDatabase) | undefined;

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

  get jobs(): Stores["jobs"] {
    return this.#opened.jobs;
  }

  get sessions(): Stores["sessions"] {
    return this.#opened.sessions;
  }

  get approvals(): Stores["approvals"] {
    return this.#opened.approvals;
  }

  get pauses(): Stores["pauses"] {
    return this.#opened.pauses;
  }

  get schedules(): Stores["schedules"] {
    return this.#opened.schedules;
  }

  get budgets(): Stores["budgets"] {
    return this.#opened.budgets;
  }

  get deliveries(): Stores["deliveries"] {
    return this.#opened.deliveries;
  }

  get hooks(): Stores["hooks"] {
    return this.#opened.hooks;
  }

  get work(): Stores["work"] {
    return this.#opened.work;
  }

  get chat(): Stores["chat"] {
    return this.#opened.chat;
  }

  get tokens(): Stores["tokens"] {
    return this.#opened.tokens;
  }

  get logins(): Stores["logins"] {
    return this.#opened.logins;
  }

  get audit(): Stores["audit"] {
    return this.#opened.audit;
  }

  /** What there is beside the stores when several nodes share them. */
  get shared(): SharedStore | undefined {
    return this.#opened.shared;
  }

  async open(options: OpenOptions = {}): Promise<this> {
    if (this.#stores) return this;
    const opened = await this.#openDatabase(options);
    const outputFile = (id: string) => join(this.jobDir(id), outputName);
    const { dayName, isNodeGone } = options;
    const stores = makeStores(opened.database, { outputFile, dayName, isNodeGone });
    this.#stores = { ...opened, ...stores };
    return this;
  }

  async close(): Promise<void> {
    const opened = this.#stores;
    this.#stores = undefined;
    await opened?.close();
  }

  get #opened(): Stores & OpenedDatabase {
    if (!this.#stores) throw new Error(`the state in ${this.stateDir} is not open`);
    return this.#stores;
  }

  async #openDatabase(options: OpenOptions): Promise<OpenedDatabase> {
    if (options.store === undefined) {
      const database = this.#openFile(options);
      return { database, close: () => database.close() };
    }
    // Read when it is needed: a fleet on a file of its own does without.
    const { openPostgres } = await import("./postgres/open.ts");
    const opened = await openPostgres(options.store, { readOnly: options.readOnly });
    if (!options.readOnly) ensureStateDir(this.stateDir);
    return opened;
  }

  #openFile(options: OpenOptions): Database {
    const file = join(this.stateDir, "herd.db");
    assertOwned([this.stateDir]);
    if (options.readOnly) return openForReading(file);
    ensureStateDir(this.stateDir);
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
