import { createHash } from "node:crypto";
import { statSync } from "node:fs";
import type { Environment } from "@herdctl/config";
import { configDirOf, loginFile, servedBy } from "../../claude/credential.ts";
import { sessionFilePath } from "../../claude/session-files/session-file-path.ts";
import { runTokenOf } from "../../lib/run-token.ts";
import { chooseTools, createToolTable, type ToolTable } from "../agent-tools/choose-tools.ts";
import type { RunnerAssignment } from "../contract/messages.ts";
import { makeKeepAliveFolder, privateGitFolder } from "../contract/paths.ts";
import { claudeVisibleConfig, type RunOrder } from "../contract/run-order.ts";
import type { RunReport } from "../contract/run-report.ts";
import type { SessionTotals } from "../execution/build-report.ts";
import { credentialOf, type OpenRun, openRun } from "../execution/open-run.ts";
import { knownSecrets, Redactor } from "../execution/redactor.ts";
import { type RunHandlers, RunningAttempt } from "../execution/running-attempt.ts";
import type { KeepAliveRuntime } from "../runtimes/keep-alive-runtime.ts";
import { RuntimeFactory } from "../runtimes/runtime-factory.ts";
import { describeStartupFiles, readGitStatus } from "./startup-files.ts";

/** A `claude` that keeps running between turns of its session. */
export interface KeepAliveRun {
  /** Token of the attempt that started it; marks its processes. */
  runToken: string;
  fingerprint: string;
  runtime: KeepAliveRuntime;
  /** Table of herdctl's tools, whose entries each turn replaces. */
  toolTable: ToolTable;
}

/** A kept-alive `claude` between two turns, with its resources. */
export interface IdleRun extends KeepAliveRun {
  run: OpenRun;
  totals: SessionTotals | undefined;
  /** Only for an unused one: the git status that claude read at its start. */
  gitStatus?: string;
}

/** claude writes the last transcript lines of a turn shortly after it has sent them. */
const transcriptSettleMs = 1_000;

const keepableOutcomes = new Set(["success", "finished_with_denials"]);

/** Holds the idle `claude` of a runner; there is at most one. */
export class KeepAliveSlot {
  private idleRun: (IdleRun & { transcript?: TranscriptWatch }) | undefined;

  get isEmpty(): boolean {
    return this.idleRun === undefined;
  }

  get isIdle(): boolean {
    return this.idleRun?.runtime.isIdle ?? false;
  }

  /** Resolves when the idle `claude` exits by itself, or immediately if there is none. */
  get gone(): Promise<void> {
    return this.idleRun?.runtime.gone ?? Promise.resolve();
  }

  /** Takes the idle `claude` if it fits this order; otherwise leaves it in the slot. */
  async take(order: RunOrder, environment: Environment): Promise<IdleRun | undefined> {
    const { idleRun } = this;
    if (!idleRun) return undefined;
    // An unused `claude` can only start a new session, a used one can only resume its own.
    const isUnused = idleRun.gitStatus !== undefined;
    if (order.session.kind !== (isUnused ? "fresh" : "resume")) return undefined;
    if (
      idleRun.fingerprint !== computeProcessFingerprint({ ...order, keepAlive: true }, environment)
    )
      return undefined;
    if (idleRun.transcript?.hasChanged()) return undefined;
    if (isUnused && idleRun.gitStatus !== readGitStatus(order)) return undefined;
    if ((await idleRun.runtime.isOutdated()) || !this.isIdle) return undefined;
    this.idleRun = undefined;
    idleRun.transcript?.stop();
    return idleRun;
  }

  keepUnused(keepAliveRun: KeepAliveRun, run: OpenRun, gitStatus: string): void {
    this.idleRun = { ...keepAliveRun, run, totals: undefined, gitStatus };
  }

  /** False if `claude` was not kept; the caller then closes the run. */
  async keep(
    order: RunOrder,
    keepAliveRun: KeepAliveRun,
    run: OpenRun,
    report: RunReport,
  ): Promise<boolean> {
    const { runtime } = keepAliveRun;
    if (runtime.isIdle && order.keepAlive && keepableOutcomes.has(report.outcome.code)) {
      const transcript = new TranscriptWatch(sessionFilePath(order, order.session.sessionId));
      const { runToken, fingerprint, toolTable } = keepAliveRun;
      const kept = { runToken, fingerprint, toolTable, runtime };
      this.idleRun = { ...kept, run, totals: report.session_totals ?? undefined, transcript };
      return true;
    }
    await runtime.end();
    await run.processTracker.kill();
    return false;
  }

  async end(): Promise<void> {
    const { idleRun } = this;
    this.idleRun = undefined;
    if (idleRun) await endIdleRun(idleRun);
  }
}

export async function endIdleRun({ runtime, run, transcript }: EndableRun): Promise<void> {
  transcript?.stop();
  await runtime.end();
  await run.processTracker.kill();
  await run.close();
}

type EndableRun = Pick<IdleRun, "runtime" | "run"> & { transcript?: TranscriptWatch };

/** Detects that the session was resumed elsewhere: its file grows without the idle `claude` noticing. */
class TranscriptWatch {
  private size: number | undefined;
  private readonly sizeTimer: NodeJS.Timeout;

  constructor(private readonly file: string) {
    this.sizeTimer = setTimeout(() => {
      this.size = fileSizeOf(file);
    }, transcriptSettleMs).unref();
  }

  hasChanged(): boolean {
    return this.size !== undefined && this.size !== fileSizeOf(this.file);
  }

  stop(): void {
    clearTimeout(this.sizeTimer);
  }
}

function fileSizeOf(file: string): number | undefined {
  return statSync(file, { throwIfNoEntry: false })?.size;
}

/** Starts `claude` before its job. The job's order equals this one plus a prompt. */
export async function prewarmClaude(
  { stateDir, order, environment }: RunnerAssignment,
  slot: KeepAliveSlot,
): Promise<void> {
  const runToken = runTokenOf(order);
  const fingerprint = computeProcessFingerprint({ ...order, keepAlive: true }, environment);
  const gitStatus = readGitStatus(order);
  const folder = makeKeepAliveFolder(stateDir, runToken);
  const gitDir = order.place === "docker" ? privateGitFolder(stateDir, runToken) : undefined;
  const opened = await openRun(order, environment, folder, { folder, gitDir });
  if (opened.kind === "refused") return;
  const { run } = opened;
  const toolTable = createToolTable();
  const runtime = RuntimeFactory.createKeepAlive(order.agent, { stateDir, environment });
  // The job later replaces these handlers and the tools.
  const redactor = new Redactor(knownSecrets(order.agent, environment));
  const watch: RunHandlers = {
    onPermission: async () => ({ behavior: "deny", message: "There is no job yet." }),
    onQuestion: async () => ({ kind: "none", why: "nobody" }),
    createTools: (context) =>
      chooseTools({ ...context, order, jobDir: folder, stateDir }, toolTable),
  };
  const attempt = new RunningAttempt(order, run, folder, watch, redactor);
  await attempt.prewarm(runtime);
  slot.keepUnused({ runToken, fingerprint, runtime, toolTable }, run, gitStatus);
}

/**
 * Hash of all inputs that `claude` reads at its start. If it is unchanged, an idle process behaves
 * like one that is started now. It includes the date, which claude only reads once.
 */
export function computeProcessFingerprint(
  order: RunOrder,
  environment: Environment,
  now = new Date(),
): string {
  const {
    jobId: _jobId,
    attempt: _attempt,
    prompt: _prompt,
    expandsReferences: _expandsReferences,
    spend: _spend,
    session,
    agent,
    ...stableFields
  } = order;
  const credential = credentialOf(order, environment);
  const configDir = configDirOf(environment);
  const facts = [
    stableFields,
    claudeVisibleConfig(agent),
    session.sessionId,
    environment,
    credential.kind,
    servedBy(credential),
    credential.kind === "subscription" && modifiedAtMs(loginFile(configDir)),
    describeStartupFiles(order.cwd, order.configDir),
    now.toDateString(),
  ];
  return createHash("sha256").update(JSON.stringify(facts)).digest("hex");
}

function modifiedAtMs(file: string): number | undefined {
  return statSync(file, { throwIfNoEntry: false })?.mtimeMs;
}
