import { type AuditAction, type AuditDetails, type AuditEntry, UserError } from "@herdctl/protocol";
import type { AuditStore } from "../store/model/audit-log.ts";
import { type Actor, identities } from "../store/model/identity.ts";

export interface AuditLogWriterDeps {
  store(): AuditStore;
  reportError(message: string, cause?: unknown): void;
}

/** An action whose result is not known yet. */
export interface AuditedAction {
  action: AuditAction;
  target?: string;
  details?: AuditDetails;
}

export interface FailedAuthentication {
  action: AuditAction;
  target?: string;
  /** The network address. */
  origin: string;
  /** The error code. */
  error: string;
}

const summaryIntervalMs = 60_000;
/** Further addresses within the same minute share one record. */
const maxAddresses = 20;

/** Writes the audit log: actions with their identity, and failed attempts to authenticate. */
export class AuditLogWriter {
  readonly #deps: AuditLogWriterDeps;
  /** Failures of this minute that are not recorded yet, grouped by their common fields. */
  readonly #failures = new Map<string, { attempt: FailedAuthentication; count: number }>();
  #timer: NodeJS.Timeout | undefined;

  constructor(deps: AuditLogWriterDeps) {
    this.#deps = deps;
  }

  /** Durable when it resolves. */
  async record(actor: Actor, action: AuditedAction): Promise<void> {
    await this.#deps.store().append(createAuditEntry(actor, action));
  }

  /** Does the work and records its result before the caller gets it. */
  async perform<T>(
    actor: Actor,
    action: AuditedAction,
    work: () => Promise<T>,
    describe: (result: T) => Pick<AuditedAction, "target" | "details"> = () => ({}),
  ): Promise<T> {
    let result: T;
    try {
      result = await work();
    } catch (error) {
      const entry = { ...createAuditEntry(actor, action), ...outcomeOfError(error) };
      // The caller gets the original error, even if it cannot be recorded.
      await this.#append(entry);
      throw error;
    }
    const { target = action.target, details } = describe(result);
    // defence: audit-before-reply
    await this.record(actor, { ...action, target, details: { ...action.details, ...details } });
    return result;
  }

  /**
   * Records the first failure of an address before this resolves. Further failures of that minute
   * share one record with a count, so that guessing cannot fill the disk.
   */
  async recordFailedAuthentication(attempt: FailedAuthentication): Promise<void> {
    const { action, target, origin, error } = attempt;
    const key = JSON.stringify([action, target, origin, error]);
    const isNew = !this.#failures.has(key);
    const hasRoom = this.#failures.size < maxAddresses;
    const countedAttempt = isNew && !hasRoom ? { ...attempt, origin: "other addresses" } : attempt;
    const countedKey = countedAttempt === attempt ? key : JSON.stringify([action, target, error]);
    const count = this.#failures.get(countedKey)?.count;
    this.#timer ??= setTimeout(() => void this.flush(), summaryIntervalMs).unref();
    const isRecorded = /* defence: audit-failure-count */ count === undefined && hasRoom;
    const uncounted = isRecorded ? 0 : (count ?? 0) + 1;
    this.#failures.set(countedKey, { attempt: countedAttempt, count: uncounted });
    if (isRecorded) await this.#append(createFailureEntry(attempt, 1));
  }

  /** Records the failures that are only counted so far. */
  async flush(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const failures = [...this.#failures.values()];
    this.#failures.clear();
    for (const { attempt, count } of failures) {
      if (count > 0) await this.#append(createFailureEntry(attempt, count));
    }
  }

  async #append(entry: AuditEntry): Promise<void> {
    try {
      await this.#deps.store().append(entry);
    } catch (error) {
      this.#deps.reportError("Failed to write the audit log", error);
    }
  }
}

/** The record of a completed action. */
export function createAuditEntry(
  { identity, origin, note }: Actor,
  { action, target = "", details = {} }: AuditedAction,
): AuditEntry {
  return {
    identity,
    origin,
    action,
    target: target === "" ? null : target,
    outcome: "ok",
    error: null,
    details: { ...details, ...(note !== undefined && { note }) },
  };
}

function createFailureEntry(attempt: FailedAuthentication, attempts: number): AuditEntry {
  const { action, target, origin, error } = attempt;
  const entry = createAuditEntry(
    { identity: identities.anonymous, origin },
    { action, target, details: { attempts } },
  );
  return { ...entry, outcome: "refused", error };
}

function outcomeOfError(error: unknown): Pick<AuditEntry, "outcome" | "error"> {
  return error instanceof UserError
    ? { outcome: "refused", error: error.code }
    : { outcome: "failed", error: null };
}
