import { UserError } from "../errors/user-error.ts";
import type { AuditDetails, AuditEntry, AuditStore } from "../state/audit.ts";
import type { AuditAction } from "../state/audit-actions.ts";
import { type Actor, identities } from "../state/identity.ts";

export interface AuditFrame {
  store(): AuditStore;
  trouble(message: string, cause?: unknown): void;
}

/** An action before it is known how it ends. */
export interface AuditedAction {
  action: AuditAction;
  target?: string;
  details?: AuditDetails;
}

export interface FailedAttempt {
  action: AuditAction;
  /** The network address. */
  origin: string;
  /** The error code. */
  error: string;
}

const summaryIntervalMs = 60_000;
/** Further addresses of the same minute share one record. */
const maxAddresses = 20;

/** Writes the audit log: every action by its identity, and failed attempts to authenticate. */
export class Audit {
  readonly #frame: AuditFrame;
  /** Failures of this minute that are not recorded yet, by what they have in common. */
  readonly #failures = new Map<string, { attempt: FailedAttempt; count: number }>();
  #timer: NodeJS.Timeout | undefined;

  constructor(frame: AuditFrame) {
    this.#frame = frame;
  }

  /** Durable when it resolves. */
  async record(actor: Actor, done: AuditedAction): Promise<void> {
    await this.#frame.store().append(auditEntry(actor, done));
  }

  /** Does the work and records how it ended, before the caller hears of it. */
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
      const entry = { ...auditEntry(actor, action), ...failureOf(error) };
      // The caller hears of the first failure, also when it cannot be recorded.
      await this.#append(entry);
      throw error;
    }
    const { target = action.target, details } = describe(result);
    await this.record(actor, { ...action, target, details: { ...action.details, ...details } });
    return result;
  }

  /**
   * The first failure of an address is recorded immediately, the following ones of that minute as
   * one record with their count: guessing must not fill the disk.
   */
  failed(attempt: FailedAttempt): void {
    const key = JSON.stringify([attempt.action, attempt.origin, attempt.error]);
    const isNew = !this.#failures.has(key);
    const isRoom = this.#failures.size < maxAddresses;
    const counted = isNew && !isRoom ? { ...attempt, origin: "other addresses" } : attempt;
    const countedKey = counted === attempt ? key : JSON.stringify([attempt.action, attempt.error]);
    const count = this.#failures.get(countedKey)?.count;
    if (count === undefined && isRoom) {
      this.#failures.set(countedKey, { attempt, count: 0 });
      void this.#append(failureEntry(attempt, 1));
    } else {
      this.#failures.set(countedKey, { attempt: counted, count: (count ?? 0) + 1 });
    }
    this.#timer ??= setTimeout(() => void this.flush(), summaryIntervalMs).unref();
  }

  /** Records the failures that are only counted so far. */
  async flush(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const failures = [...this.#failures.values()];
    this.#failures.clear();
    for (const { attempt, count } of failures) {
      if (count > 0) await this.#append(failureEntry(attempt, count));
    }
  }

  async #append(entry: AuditEntry): Promise<void> {
    try {
      await this.#frame.store().append(entry);
    } catch (error) {
      this.#frame.trouble("Failed to write the audit log", error);
    }
  }
}

/** The record of an action that was done. */
export function auditEntry(
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

function failureEntry({ action, origin, error }: FailedAttempt, attempts: number): AuditEntry {
  const entry = auditEntry(
    { identity: identities.anonymous, origin },
    { action, details: { attempts } },
  );
  return { ...entry, outcome: "refused", error };
}

function failureOf(error: unknown): Pick<AuditEntry, "outcome" | "error"> {
  return error instanceof UserError
    ? { outcome: "refused", error: error.code }
    : { outcome: "failed", error: null };
}
