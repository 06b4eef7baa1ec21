import { type ChildProcess, spawn } from "node:child_process";
import { mkdirSync, rmSync } from "node:fs";
import { launcherToken, removeGroup, removeGroupsOfDead } from "../runner/sweep/launcher-token.ts";
import { identifyProcess, type ProcessIdentity } from "../state/process-identity.ts";
import type { RunnerAssignment } from "./contract.ts";
import { goWord, type LibrariesAhead, librariesAhead, runnerProgram } from "./program.ts";

export interface StartedRunner {
  pid: number;
  /** Undefined when it could not be started. */
  identity: ProcessIdentity | undefined;
  /** Never rejects. A runner that came too late exits, too: `inspectRunner` tells which it was. */
  exited: Promise<RunnerExit>;
  /** Says what it will be given, so that it can open what the run needs while that is recorded. */
  prepare(assignment: RunnerAssignment): void;
  /** Gives it the next turn of its session, for which it waits. */
  give(assignment: RunnerAssignment): void;
  /** There will be no other: it ends as soon as it has nothing to do. */
  letGo(): void;
}

interface RunnerExit {
  code: number | null;
  signal: NodeJS.Signals | null;
}

export interface SparePoolOptions {
  /**
   * A folder of the pool's own, where spares leave files while they warm up. Without one they do
   * not, and none follows the first: for one job, which comes at once.
   */
  scratch?: string;
  size?: number;
  program?: string;
  /** What agents need: to have either ready costs a process 30 MB. All of it unless somebody says so. */
  needs?: () => LibrariesAhead;
}

interface Runner extends Pick<StartedRunner, "pid" | "identity" | "exited"> {
  child: ChildProcess;
}

/** A new spare leaves the processor to the run that took the last one until that is well under way. */
const pauseAfterTaking = 1_000;
/** To start one holds this process up, and whoever waits for the job that ended comes first. */
const pauseAfterEnd = 50;
/** A program that cannot run at all is not tried again and again without a pause. */
const pauseAfterDeath = 1_000;

/** Keeps runner processes warm, so that a job does not pay for their start. */
export class SparePool {
  private readonly size: number;
  private readonly scratch: string | undefined;
  private readonly program: string;
  private readonly needs: () => LibrariesAhead;
  private readonly spares = new Set<Runner>();
  private readonly taken = new Set<Runner>();
  private refill: NodeJS.Timeout | undefined;
  private stopped = false;

  constructor(options: SparePoolOptions = {}) {
    const { scratch, size = 1, program = runnerProgram() } = options;
    this.size = size;
    this.scratch = scratch;
    this.program = program;
    this.needs = options.needs ?? (() => ({ sdk: true, docker: true }));
    this.clean();
    this.fill();
  }

  /** Gives an attempt to a runner that needs nobody from then on, this process least of all. */
  take(assignment: RunnerAssignment): StartedRunner {
    const runner = this.reserve();
    runner.give(assignment);
    return runner;
  }

  /** One that waits for what it will be given, and goes if it is let go instead. */
  reserve(): StartedRunner {
    const [spare] = this.spares;
    const runner = spare ?? this.start();
    this.spares.delete(runner);
    this.taken.add(runner);
    runner.child.ref();
    void runner.exited.then(() => this.release(runner));
    this.fillIn(pauseAfterTaking);
    return handle(runner);
  }

  /** Ends the spares. Runners go on, and no longer keep this process. */
  async stop(): Promise<void> {
    this.stopped = true;
    clearTimeout(this.refill);
    for (const { child } of this.taken) child.unref();
    const spares = [...this.spares];
    const identities = spares.flatMap(({ identity }) => identity ?? []);
    for (const { child } of spares) {
      child.ref();
      child.kill("SIGKILL");
    }
    await Promise.all(spares.map(({ exited }) => exited));
    await Promise.all(identities.map((spare) => removeGroup(launcherToken(spare))));
    this.clean();
  }

  /** What a spare left that was killed. */
  private clean(): void {
    if (this.scratch === undefined) return;
    rmSync(this.scratch, { recursive: true, force: true });
    removeGroupsOfDead();
  }

  /** A short run leaves the processor to the next spare sooner. */
  private release(runner: Runner): void {
    this.taken.delete(runner);
    if (this.taken.size === 0) this.fillIn(pauseAfterEnd);
  }

  private fillIn(milliseconds: number): void {
    clearTimeout(this.refill);
    if (this.scratch === undefined) return;
    this.refill = setTimeout(() => this.fill(), milliseconds).unref();
  }

  private fill(): void {
    while (!this.stopped && this.spares.size < this.size) this.keep(this.start());
  }

  private keep(spare: Runner): void {
    this.spares.add(spare);
    spare.child.unref();
    void spare.exited.then(() => {
      if (this.spares.delete(spare)) this.fillIn(pauseAfterDeath);
    });
  }

  private warmth(): string[] {
    if (this.scratch === undefined) return [];
    const { sdk, docker } = this.needs();
    const ahead = [sdk && librariesAhead.sdk, docker && librariesAhead.docker];
    return [this.scratch, ...ahead.filter((one) => one !== false)];
  }

  /** A disk that takes none only keeps the spare from warming up. */
  private makeScratch(): void {
    if (this.scratch === undefined) return;
    try {
      mkdirSync(this.scratch, { recursive: true, mode: 0o700 });
    } catch {
      // What is wrong is told where it harms.
    }
  }

  private start(): Runner {
    this.makeScratch();
    const child = spawn(process.execPath, ["--expose-gc", this.program, ...this.warmth()], {
      detached: true,
      cwd: "/",
      env: ownEnvironment(),
      stdio: ["pipe", "ignore", "ignore"],
    });
    // A spare that died just now does not read; that the attempt never began shows soon enough.
    child.stdin.on("error", () => undefined);
    const exited = new Promise<RunnerExit>((resolve) => {
      child.once("exit", (code, signal) => resolve({ code, signal }));
      child.once("error", () => resolve({ code: null, signal: null }));
    });
    const { pid = 0 } = child;
    return { pid, identity: identifyProcess(pid), exited, child };
  }
}

function handle({ pid, identity, exited, child: { stdin } }: Runner): StartedRunner {
  let isPrepared = false;
  return {
    pid,
    identity,
    exited,
    prepare: (assignment) => {
      isPrepared = true;
      stdin?.write(`${JSON.stringify({ ...assignment, held: true })}\n`);
    },
    give: (assignment) => {
      const line = `${isPrepared ? goWord : JSON.stringify(assignment)}\n`;
      // An open end is what tells it that somebody may come with another turn.
      if (assignment.order.live || assignment.ahead) stdin?.write(line);
      else stdin?.end(line);
    },
    letGo: () => stdin?.end(),
  };
}

/** What Node itself reads at its start. All that is for the run comes with the assignment. */
const needed = ["PATH", "HOME", "TMPDIR", "NODE_EXTRA_CA_CERTS", "HERDCTL_FAULTS"];

function ownEnvironment(): Record<string, string> {
  return Object.fromEntries(
    needed.flatMap((name) => {
      const value = process.env[name];
      return value === undefined ? [] : [[name, value]];
    }),
  );
}
