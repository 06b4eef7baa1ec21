import { existsSync, readFileSync, writeFileSync } from "node:fs";

/**
 * The places where tests can make a process fail, in the order in which a job reaches them. A name
 * describes what has just happened. Points that end in `write` come before a write and can fail it.
 */
export const failPoints = [
  // From a chat message, a due time or a delivery to a job.
  "message received",
  "message taken",
  "reply begun",
  "reply posted",
  "reply recorded",
  "schedule due",
  "delivery verified",
  "trigger accepted",
  "job stored",
  "chat job known",
  // From the queue to a runner.
  "job claimed",
  "attempt begun",
  "runner spawned",
  // In the runner.
  "runner began",
  "init seen",
  "message seen",
  "message kept",
  "result seen",
  "outcome made",
  "outcome stored",
  "runner done",
  // From its outcome to the end of the job.
  "report read",
  "run settled",
  "job cleaned",
  "hooks decided",
  "hook begun",
  "hook ran",
  "hook recorded",
  "reply finished",
  "message answered",
  // Recovery after another fleet process died.
  "recovery begun",
  "attempt void",
  "dead run swept",
  "dead run reported",
  "recovery done",
  "hook cut off",
  // Writes.
  "database write",
  "log write",
  "claim write",
  "file write",
] as const;

export type FailPoint = (typeof failPoints)[number];

/** A planned failure: the point, the hit (1-based) that triggers it, and what happens. */
export interface Fault {
  point: FailPoint;
  nth: number;
  kind: FaultKind;
}

export type FaultKind = "kill" | "delay" | "ENOSPC" | "EIO";

/** Does nothing unless a test has planned a fault here. */
export function failPoint(point: FailPoint): void {
  plan?.hit(point);
}

/**
 * The faults of a plan file, in order and across processes: the second fault becomes active after the
 * first has happened. Each fault that has happened leaves a marker file, so that it happens only once.
 */
class FaultPlan {
  readonly #file: string;
  readonly #faults: readonly Fault[];
  #currentIndex = -1;
  #hitCount = 0;

  constructor(file: string) {
    this.#file = file;
    // Not validated: a test of the same version writes the file.
    this.#faults = JSON.parse(readFileSync(file, "utf8")) as Fault[];
  }

  hit(point: FailPoint): void {
    const index = this.#faults.findIndex((_, at) => !existsSync(this.#markerFile(at)));
    const fault = this.#faults[index];
    if (fault?.point !== point) return;
    if (index !== this.#currentIndex) this.#hitCount = 0;
    this.#currentIndex = index;
    this.#hitCount += 1;
    if (this.#hitCount < fault.nth || !this.#claimFault(index)) return;
    faultActions[fault.kind]();
  }

  #claimFault(index: number): boolean {
    try {
      writeFileSync(this.#markerFile(index), String(process.pid), { flag: "wx" });
      return true;
    } catch {
      return false;
    }
  }

  #markerFile(index: number): string {
    return `${this.#file}.${index}`;
  }
}

/** Longer than the timeouts under test. */
const delayMs = 8_000;

const faultActions: Record<FaultKind, () => void> = {
  kill: () => {
    process.kill(process.pid, "SIGKILL");
    blockProcess(Number.POSITIVE_INFINITY);
  },
  delay: () => blockProcess(delayMs),
  ENOSPC: () => {
    throw diskError("ENOSPC", "no space left on device", sqliteFullCode);
  },
  EIO: () => {
    throw diskError("EIO", "i/o error", sqliteIoErrorCode);
  },
};

const sqliteFullCode = 13;

const sqliteIoErrorCode = 10;

/** The same fields as errors from Node and SQLite, so that callers treat it as a real one. */
function diskError(code: string, description: string, errcode: number): Error {
  return Object.assign(new Error(`${code}: ${description}, write`), {
    code,
    errcode,
    syscall: "write",
  });
}

/** Blocks the event loop. */
function blockProcess(milliseconds: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds);
}

/** Read once at process start. Without a plan, a fail point costs one comparison. */
const planFile = process.env.HERDCTL_FAULTS;

const plan = planFile ? new FaultPlan(planFile) : undefined;
