import { type ChildProcess, spawn } from "node:child_process";
import type { ProcessIdentity } from "@herdctl/protocol";
import { identifyProcess } from "../lib/process-identity.ts";
import { RefillTimer } from "../lib/refill-timer.ts";
import type { RunnerAssignment } from "../runner/contract/messages.ts";
import {
  type PreloadLibraries,
  preloadFlags,
  runnerProgramPath,
} from "../runner/contract/paths.ts";

export interface StartedRunner {
  pid: number;
  /** Undefined if it could not be started. */
  identity: ProcessIdentity | undefined;
  /**
   * Never rejects. A runner that came too late also exits; `inspectRunner` distinguishes the cases.
   */
  exited: Promise<RunnerExit>;
  /** Sends the next turn of the session that the runner waits for. */
  assign(assignment: RunnerAssignment): void;
  /** No further assignment follows: the runner ends as soon as it is idle. */
  release(): void;
}

interface RunnerExit {
  code: number | null;
  signal: NodeJS.Signals | null;
}

export interface RunnerPoolOptions {
  size?: number;
  /** Whether another runner is started in place of one that was taken. */
  refill?: boolean;
  program?: string;
  /**
   * The libraries that agents need. Each preloaded library takes 30 MB per process. Default: all.
   */
  neededLibraries?: () => PreloadLibraries;
}

interface Runner extends Pick<StartedRunner, "pid" | "identity" | "exited"> {
  child: ChildProcess;
}

/**
 * Delays the next start until the run that took the last runner is well under way, because both
 * need the CPU.
 */
const refillDelayMs = 1_000;
/** Starting a runner blocks this process, so callers that wait for the ended job come first. */
const idleRefillDelayMs = 50;
/** A program that cannot run at all is not restarted without a pause. */
const restartDelayMs = 1_000;

/** Keeps runner processes ready, so that a job does not wait for their start. */
export class RunnerPool {
  private readonly size: number;
  private readonly program: string;
  private readonly neededLibraries: () => PreloadLibraries;
  private readonly prewarmedRunners = new Set<Runner>();
  private readonly assignedRunners = new Set<Runner>();
  private readonly refill = new RefillTimer(
    () => this.prewarmedRunners.size < this.size,
    async () => this.fill(),
  );

  constructor(options: RunnerPoolOptions = {}) {
    const { size = 1, refill = false, program = runnerProgramPath() } = options;
    this.size = size;
    this.program = program;
    this.neededLibraries = options.neededLibraries ?? (() => ({ sdk: true, docker: true }));
    this.fill();
    if (refill) this.refill.start();
  }

  /** Assigns an attempt to a runner. From then on the runner does not depend on this process. */
  take(assignment: RunnerAssignment): StartedRunner {
    const runner = this.reserve();
    runner.assign(assignment);
    return runner;
  }

  /** A runner that waits for its assignment, and ends if it is released instead. */
  reserve(): StartedRunner {
    const [prewarmed] = this.prewarmedRunners;
    const runner = prewarmed ?? this.start();
    this.prewarmedRunners.delete(runner);
    this.assignedRunners.add(runner);
    runner.child.ref();
    void runner.exited.then(() => this.onRunnerExit(runner));
    this.refill.schedule(refillDelayMs);
    return toStartedRunner(runner);
  }

  /**
   * Ends idle runners. Runners with an assignment continue, but no longer keep this process alive.
   */
  async stop(): Promise<void> {
    void this.refill.stop();
    for (const { child } of this.assignedRunners) child.unref();
    const prewarmedRunners = [...this.prewarmedRunners];
    for (const { child } of prewarmedRunners) {
      child.ref();
      child.kill("SIGKILL");
    }
    await Promise.all(prewarmedRunners.map(({ exited }) => exited));
  }

  /** After a short run, the CPU is free for the next runner earlier. */
  private onRunnerExit(runner: Runner): void {
    this.assignedRunners.delete(runner);
    if (this.assignedRunners.size === 0) this.refill.schedule(idleRefillDelayMs);
  }

  private fill(): void {
    while (!this.refill.isStopped && this.prewarmedRunners.size < this.size)
      this.addPrewarmed(this.start(this.libraryFlags()));
  }

  private addPrewarmed(prewarmed: Runner): void {
    this.prewarmedRunners.add(prewarmed);
    prewarmed.child.unref();
    void prewarmed.exited.then(() => {
      if (this.prewarmedRunners.delete(prewarmed)) this.refill.schedule(restartDelayMs);
    });
  }

  private libraryFlags(): string[] {
    const { sdk, docker } = this.neededLibraries();
    const enabledFlags = [sdk && preloadFlags.sdk, docker && preloadFlags.docker];
    return enabledFlags.filter((flag) => flag !== false);
  }

  private start(flags: readonly string[] = []): Runner {
    const child = spawn(process.execPath, [this.program, ...flags], {
      detached: true,
      cwd: "/",
      env: /* defence: runner-environment */ runnerProcessEnvironment(),
      stdio: ["pipe", "ignore", "ignore"],
    });
    // A runner that just died does not read its input; the attempt then never starts, which is
    // noticed.
    child.stdin.on("error", () => undefined);
    const exited = new Promise<RunnerExit>((resolve) => {
      child.once("exit", (code, signal) => resolve({ code, signal }));
      child.once("error", () => resolve({ code: null, signal: null }));
    });
    const { pid = 0 } = child;
    return { pid, identity: identifyProcess(pid), exited, child };
  }
}

function toStartedRunner({ pid, identity, exited, child: { stdin } }: Runner): StartedRunner {
  return {
    pid,
    identity,
    exited,
    assign: (assignment) => {
      const line = `${JSON.stringify(assignment)}\n`;
      // The open input tells the runner that another turn may follow.
      if (assignment.order.keepAlive || assignment.isPrewarm) stdin?.write(line);
      else stdin?.end(line);
    },
    release: () => stdin?.end(),
  };
}

/** Variables that Node reads at startup. Everything for the run comes with the assignment. */
const inheritedVariables = ["PATH", "HOME", "TMPDIR", "NODE_EXTRA_CA_CERTS", "HERDCTL_FAULTS"];

function runnerProcessEnvironment(): Record<string, string> {
  return Object.fromEntries(
    inheritedVariables.flatMap((name) => {
      const value = process.env[name];
      return value === undefined ? [] : [[name, value]];
    }),
  );
}
