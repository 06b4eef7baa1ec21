import { join, resolve } from "node:path";
import { assertOwnership, UserError } from "@herdctl/protocol";
import { ensurePrivateDir, ensureStateDir } from "./files/job-folder.ts";
import { outputFileName } from "./files/output-log.ts";
import { checkJobId } from "./model/ids.ts";
import type { SharedStore } from "./sql/shared-store.ts";
import type { SqlDatabase } from "./sql/sql-program.ts";
import { createStores, type Stores } from "./sql/stores.ts";
import type { SqliteDatabase } from "./sqlite/database.ts";
import { moveDamagedAside, openForReading, openForWriting } from "./sqlite/open.ts";

export interface OpenStateOptions {
  readOnly?: boolean;
  /** Address of the PostgreSQL database that nodes share. Default: an embedded database. */
  store?: string;
  /** Whether a node of the shared store is gone, as far as this process knows. */
  isNodeGone?: (node: string) => boolean;
  /** The day to which a time belongs; by default in UTC. */
  dayName?: (at: Date) => string;
  /** Only at a person's request: moves a damaged database aside and creates an empty one. */
  moveDamagedAside?: boolean;
}

interface OpenedDatabase {
  database: SqlDatabase;
  shared?: SharedStore;
  close(): Promise<void>;
}

/** A state directory: its paths, and its stores while it is open. */
export class StateManager {
  readonly stateDir: string;
  /** Where `open` moved a damaged database, if it did. */
  damagedCopy: string | undefined;
  private stores: (Stores & OpenedDatabase) | undefined;

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
    return this.openedStores.jobs;
  }

  get sessions(): Stores["sessions"] {
    return this.openedStores.sessions;
  }

  get approvals(): Stores["approvals"] {
    return this.openedStores.approvals;
  }

  get rules(): Stores["rules"] {
    return this.openedStores.rules;
  }

  get push(): Stores["push"] {
    return this.openedStores.push;
  }

  get pauses(): Stores["pauses"] {
    return this.openedStores.pauses;
  }

  get schedules(): Stores["schedules"] {
    return this.openedStores.schedules;
  }

  get budgets(): Stores["budgets"] {
    return this.openedStores.budgets;
  }

  get deliveries(): Stores["deliveries"] {
    return this.openedStores.deliveries;
  }

  get hooks(): Stores["hooks"] {
    return this.openedStores.hooks;
  }

  get workClaims(): Stores["workClaims"] {
    return this.openedStores.workClaims;
  }

  get chat(): Stores["chat"] {
    return this.openedStores.chat;
  }

  get tokens(): Stores["tokens"] {
    return this.openedStores.tokens;
  }

  get logins(): Stores["logins"] {
    return this.openedStores.logins;
  }

  get audit(): Stores["audit"] {
    return this.openedStores.audit;
  }

  get search(): Stores["search"] {
    return this.openedStores.search;
  }

  /** Location of the records, without a password: a file or the address of a database. */
  get location(): string {
    return this.openedStores.database.name;
  }

  /** Additional stores if several nodes share the state. */
  get shared(): SharedStore | undefined {
    return this.openedStores.shared;
  }

  /** Creates the directory and its folders if necessary, and opens it for writing. */
  initialize(options: Omit<OpenStateOptions, "readOnly"> = {}): Promise<this> {
    return this.open(options);
  }

  async open(options: OpenStateOptions = {}): Promise<this> {
    if (this.stores) return this;
    const opened = await this.openDatabase(options);
    if (!options.readOnly) ensurePrivateDir(this.dockerSessionsDir);
    const outputFile = (id: string) => join(this.jobDir(id), outputFileName);
    const { dayName, isNodeGone } = options;
    const stores = createStores(opened.database, { outputFile, dayName, isNodeGone });
    this.stores = { ...opened, ...stores };
    return this;
  }

  async close(): Promise<void> {
    const opened = this.stores;
    this.stores = undefined;
    await opened?.close();
  }

  private get openedStores(): Stores & OpenedDatabase {
    if (!this.stores) throw new Error(`the state in ${this.stateDir} is not open`);
    return this.stores;
  }

  private async openDatabase(options: OpenStateOptions): Promise<OpenedDatabase> {
    if (options.store === undefined) {
      const database = this.openSqlite(options);
      return { database, close: () => database.close() };
    }
    // Imported only when needed: a fleet with an embedded database does not use it.
    const { openPostgres } = await import("./postgres/open.ts");
    const opened = await openPostgres(options.store, { readOnly: options.readOnly });
    if (!options.readOnly) ensureStateDir(this.stateDir);
    return opened;
  }

  private openSqlite(options: OpenStateOptions): SqliteDatabase {
    const file = join(this.stateDir, "herd.db");
    assertOwnership([this.stateDir]);
    if (options.readOnly) return openForReading(file);
    ensureStateDir(this.stateDir);
    try {
      return openForWriting(file);
    } catch (error) {
      const isDamaged = error instanceof UserError && error.code === "state_damaged";
      if (!isDamaged || !options.moveDamagedAside) throw error;
      this.damagedCopy = moveDamagedAside(file, new Date());
      return openForWriting(file);
    }
  }
}
