import { statSync } from "node:fs";
import type { Environment } from "../config/environment.ts";
import type { HerdTable } from "../herd-tools/herd-server.ts";
import { stampGit } from "../runner/live/git-stamp.ts";
import { livePrint } from "../runner/live/print.ts";
import type { OpenRun } from "../runner/open-run.ts";
import type { RunOrder } from "../runner/run-order.ts";
import type { RunReport } from "../runner/run-report.ts";
import type { LiveRuntime } from "../runner/runtime/live-runtime.ts";
import { sessionFilePath } from "../runner/runtime/session-file/path.ts";
import type { SessionTotals } from "../runner/usage.ts";

/** A `claude` that stays up between turns of its session, as it was begun. */
export interface BegunRun {
  /** Of the attempt which started it; its processes are known by it. */
  runToken: string;
  print: string;
  runtime: LiveRuntime;
  /** Where its tools of ours lie, which each turn brings anew. */
  table: HerdTable;
}

/** With all that surrounds it between two turns. */
export interface WaitingRun extends BegunRun {
  run: OpenRun;
  totals: SessionTotals | undefined;
  /** Of one that has had no turn: what it was told of its repository. */
  git?: string;
}

/** claude writes the last lines of a turn a moment after it has said them. */
const writtenAfter = 1_000;

const well = new Set(["success", "finished_with_denials"]);

/** The one place of a runner for a `claude` that waits. */
export class LiveRun {
  private waiting: (WaitingRun & { transcript?: Transcript }) | undefined;

  get isWaiting(): boolean {
    return this.waiting?.runtime.isWaiting ?? false;
  }

  /** Resolves when nothing waits here any more, though nobody has ended it. */
  get gone(): Promise<void> {
    return this.waiting?.runtime.gone ?? Promise.resolve();
  }

  /** What waits for just this order; all else stays where it is. */
  async take(order: RunOrder, environment: Environment): Promise<WaitingRun | undefined> {
    const { waiting } = this;
    if (!waiting || !this.isWaiting) return undefined;
    // One that has had no turn knows nothing of a session that there is already.
    const isUnused = waiting.git !== undefined;
    if (order.session.kind !== (isUnused ? "fresh" : "resume")) return undefined;
    if (waiting.print !== livePrint({ ...order, live: true }, environment)) return undefined;
    if (waiting.transcript?.hasChanged()) return undefined;
    if (isUnused && waiting.git !== stampGit(order)) return undefined;
    if ((await waiting.runtime.isOutOfDate()) || !this.isWaiting) return undefined;
    this.waiting = undefined;
    waiting.transcript?.forget();
    return waiting;
  }

  keepUnused(begun: BegunRun, run: OpenRun, git: string): void {
    this.waiting = { ...begun, run, totals: undefined, git };
  }

  /** False when there is nothing to be kept: the run is to be closed. */
  async keep(order: RunOrder, begun: BegunRun, run: OpenRun, report: RunReport): Promise<boolean> {
    const { runtime } = begun;
    if (runtime.isWaiting && order.live && well.has(report.outcome.code)) {
      const transcript = new Transcript(sessionFilePath(order, order.session.sessionId));
      const { runToken, print, table } = begun;
      const kept = { runToken, print, table, runtime };
      this.waiting = { ...kept, run, totals: report.session_totals ?? undefined, transcript };
      return true;
    }
    await runtime.end();
    await run.leash.kill();
    return false;
  }

  async end(): Promise<void> {
    const { waiting } = this;
    this.waiting = undefined;
    if (waiting) await endRun(waiting);
  }
}

export async function endRun({ runtime, run, transcript }: Ended): Promise<void> {
  transcript?.forget();
  await runtime.end();
  await run.leash.kill();
  await run.close();
}

type Ended = Pick<WaitingRun, "runtime" | "run"> & { transcript?: Transcript };

/** Whoever goes on in the session elsewhere adds to its file, and the `claude` that waits does not know it. */
class Transcript {
  private size: number | undefined;
  private readonly noting: NodeJS.Timeout;

  constructor(private readonly file: string) {
    this.noting = setTimeout(() => {
      this.size = sizeOf(file);
    }, writtenAfter).unref();
  }

  hasChanged(): boolean {
    return this.size !== undefined && this.size !== sizeOf(this.file);
  }

  forget(): void {
    clearTimeout(this.noting);
  }
}

function sizeOf(file: string): number | undefined {
  return statSync(file, { throwIfNoEntry: false })?.size;
}
