import { existsSync, readFileSync, writeFileSync } from "node:fs";
import type { FailPoint } from "./fail-points.ts";

/** One thing that goes wrong: at which point, when it is passed for the n-th time, and how. */
export interface Fault {
  point: FailPoint;
  nth: number;
  kind: FaultKind;
}

export type FaultKind = "kill" | "delay" | "ENOSPC" | "EIO";

/** Does nothing, unless a test has planned that this process fails here. */
export function failPoint(point: FailPoint): void {
  plan?.pass(point);
}

/**
 * The faults of a file, one after the other: the second is waited for once the first has happened,
 * in whichever process. What has happened leaves a file beside it, so that it happens once.
 */
class FaultPlan {
  private readonly faults: readonly Fault[];
  private awaited = -1;
  private passed = 0;

  constructor(private readonly file: string) {
    // The edge: written by a test of this very version.
    this.faults = JSON.parse(readFileSync(file, "utf8")) as Fault[];
  }

  pass(point: FailPoint): void {
    const index = this.faults.findIndex((_, at) => !existsSync(this.trace(at)));
    const fault = this.faults[index];
    if (fault?.point !== point) return;
    if (index !== this.awaited) this.passed = 0;
    this.awaited = index;
    this.passed += 1;
    if (this.passed < fault.nth || !this.isFirst(index)) return;
    consequences[fault.kind]();
  }

  private isFirst(index: number): boolean {
    try {
      writeFileSync(this.trace(index), String(process.pid), { flag: "wx" });
      return true;
    } catch {
      return false;
    }
  }

  private trace(index: number): string {
    return `${this.file}.${index}`;
  }
}

/** Longer than a run of the tests takes: it is over when whoever held it up goes on. */
const delayed = 8_000;

const consequences: Record<FaultKind, () => void> = {
  kill: () => {
    process.kill(process.pid, "SIGKILL");
    sleep(Number.POSITIVE_INFINITY);
  },
  delay: () => sleep(delayed),
  ENOSPC: () => {
    throw diskError("ENOSPC", "no space left on device", sqliteFull);
  },
  EIO: () => {
    throw diskError("EIO", "i/o error", sqliteIoError);
  },
};

const sqliteFull = 13;
const sqliteIoError = 10;

/** As Node and SQLite would have it, so that nobody can tell it from a real one. */
function diskError(code: string, said: string, errcode: number): Error {
  return Object.assign(new Error(`${code}: ${said}, write`), { code, errcode, syscall: "write" });
}

/** The whole process stands still. */
function sleep(milliseconds: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds);
}

/** Read once, when the process starts; where nothing is planned a point costs one comparison. */
const planFile = process.env.HERDCTL_FAULTS;
const plan = planFile ? new FaultPlan(planFile) : undefined;
