import type { StartedRunner } from "./spare.ts";

export interface WaitingRunner {
  sessionId: string;
  agent: string;
  /** All that is said of the agent; when it changes, its `claude` is out of date. */
  print: string;
  runner: StartedRunner;
  /** How long it may wait, in milliseconds. */
  idle: number;
}

interface Seat extends WaitingRunner {
  timer: NodeJS.Timeout;
}

const longestTimer = 2 ** 31 - 1;
/** How long one may take to end what it holds. */
const patience = 10_000;

/**
 * Runners whose `claude` is up for the next turn of a session, each for its own session only. One
 * that is let go ends its `claude` and then itself, as it does when this process dies.
 */
export class WaitingRunners {
  /** The one that has waited longest comes first. */
  private readonly seats = new Map<string, Seat>();
  private readonly leaving = new Set<Promise<void>>();

  constructor(
    private readonly most: () => number,
    /** After each one's end, however it came. */
    private readonly onExit: () => Promise<void>,
  ) {}

  keep(waiting: WaitingRunner): void {
    const { sessionId, runner, idle } = waiting;
    this.end(sessionId);
    const timer = setTimeout(() => this.end(sessionId), Math.min(idle, longestTimer)).unref();
    const seat = { ...waiting, timer };
    this.seats.set(sessionId, seat);
    void runner.exited.then(() => {
      if (this.seats.get(sessionId) !== seat) return;
      this.rise(seat);
      this.letGo(runner);
    });
    this.makeRoom();
  }

  /** Whoever goes on in the session takes it: nobody else may. */
  take(sessionId: string): StartedRunner | undefined {
    const seat = this.seats.get(sessionId);
    return seat && this.rise(seat).runner;
  }

  end(sessionId: string): void {
    const runner = this.take(sessionId);
    if (runner) this.letGo(runner);
  }

  /** Ends those of agents that are not what they were. */
  endChanged(printOf: (agent: string) => string | undefined): void {
    for (const { sessionId, agent, print } of [...this.seats.values()])
      if (printOf(agent) !== print) this.end(sessionId);
  }

  /** Nobody is left in the end. */
  async stop(): Promise<void> {
    for (const sessionId of [...this.seats.keys()]) this.end(sessionId);
    await Promise.all(this.leaving);
  }

  /** Watches over the end of one that is not to wait, or no longer. */
  letGo(runner: StartedRunner): void {
    runner.letGo();
    const left = this.seeOff(runner).finally(() => this.leaving.delete(left));
    this.leaving.add(left);
  }

  private async seeOff({ pid, exited }: StartedRunner): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, patience);
    });
    const inTime = await Promise.race([exited.then(() => true), late.then(() => false)]);
    clearTimeout(timer);
    if (!inTime) kill(pid);
    await exited;
    await this.onExit();
  }

  private rise(seat: Seat): Seat {
    clearTimeout(seat.timer);
    this.seats.delete(seat.sessionId);
    return seat;
  }

  private makeRoom(): void {
    const [longest] = this.seats.keys();
    if (this.seats.size > this.most() && longest !== undefined) this.end(longest);
  }
}

function kill(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It has just ended.
  }
}
