import type { EndingRunners } from "./ending-runners.ts";
import type { StartedRunner } from "./runner-pool.ts";

export interface IdleRunner {
  sessionId: string;
  agent: string;
  /** Hash of the agent's configuration; when it changes, the runner's `claude` is out of date. */
  agentHash: string;
  runner: StartedRunner;
  idleTimeoutMs: number;
}

interface Entry extends IdleRunner {
  timer: NodeJS.Timeout;
}

const maxTimerMs = 2 ** 31 - 1;

/** Runners that keep their `claude` for the next turn of a session, each for that session only. */
export class IdleRunners {
  /** In the order in which they became idle. */
  private readonly entries = new Map<string, Entry>();

  constructor(
    private readonly maxRunners: () => number,
    private readonly ending: EndingRunners,
  ) {}

  keep(idle: IdleRunner): void {
    const { sessionId, runner, idleTimeoutMs } = idle;
    this.end(sessionId);
    const timeoutMs = Math.min(idleTimeoutMs, maxTimerMs);
    const timer = setTimeout(() => this.end(sessionId), timeoutMs).unref();
    const entry = { ...idle, timer };
    this.entries.set(sessionId, entry);
    void runner.exited.then(() => {
      if (this.entries.get(sessionId) !== entry) return;
      this.remove(entry);
      this.ending.end(runner);
    });
    const [oldest] = this.entries.keys();
    if (this.entries.size > this.maxRunners() && oldest !== undefined) this.end(oldest);
  }

  /** Removes and returns the runner of this session, for the session's next turn. */
  take(sessionId: string): StartedRunner | undefined {
    const entry = this.entries.get(sessionId);
    return entry && this.remove(entry).runner;
  }

  end(sessionId: string): void {
    const runner = this.take(sessionId);
    if (runner) this.ending.end(runner);
  }

  /** Ends runners of agents whose configuration has changed. */
  endChanged(hashOf: (agent: string) => string | undefined): void {
    for (const { sessionId, agent, agentHash } of [...this.entries.values()])
      if (hashOf(agent) !== agentHash) this.end(sessionId);
  }

  stop(): void {
    for (const sessionId of [...this.entries.keys()]) this.end(sessionId);
  }

  private remove(entry: Entry): Entry {
    clearTimeout(entry.timer);
    this.entries.delete(entry.sessionId);
    return entry;
  }
}
