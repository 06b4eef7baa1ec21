import type { JobEvent } from "@herdctl/core";
import { Doing } from "@herdctl/core/light";
import { harmless } from "./harmless.ts";
import type { Look } from "./look.ts";
import { Painter } from "./painter.ts";
import type { Screen } from "./screen.ts";
import { frameTime, spinnerLine } from "./spinner.ts";

/** A job at work on a screen: its events as they come, and below them what it does now. */
export class LiveJob {
  /** Of the last result: the record does not keep it. */
  turns: number | undefined;
  private readonly painter: Painter;
  private readonly doing = new Doing();
  private timer: NodeJS.Timeout | undefined;
  private startedAt = Date.now();
  private stopping = "";
  private held: string[] = [];

  constructor(
    private readonly screen: Screen,
    private readonly look: Look,
  ) {
    this.painter = new Painter(look);
  }

  begin(startedAt: number): void {
    this.startedAt = startedAt;
    this.resume();
  }

  see(event: JobEvent): void {
    if (event.kind === "result") this.turns = event.turns;
    this.doing.see(event);
    this.print(this.painter.paint(event));
  }

  /** A line of ours between those of the agent. */
  say(line: string): void {
    this.print([...this.painter.finish(), line]);
  }

  /** From now on this stands where the spinner tells what the agent does. */
  announceStop(text: string): void {
    this.stopping = text;
    this.print([]);
  }

  /** Leaves the screen to somebody else, such as a question; what happens meanwhile is held back. */
  pause(last: string[] = []): void {
    clearInterval(this.timer);
    this.timer = undefined;
    this.screen.show(last, []);
  }

  resume(): void {
    this.timer ??= setInterval(() => this.print([]), frameTime);
    this.print([]);
  }

  end(): void {
    this.pause([...this.held, ...this.painter.finish()]);
    this.held = [];
    this.screen.close();
  }

  private print(lines: string[]): void {
    this.held.push(...lines);
    if (!this.timer) return;
    this.screen.show(this.held, this.below());
    this.held = [];
  }

  private below(): string[] {
    const { draft } = this.painter;
    const doing = this.stopping || harmless(this.doing.text);
    const spinner = spinnerLine(Date.now() - this.startedAt, doing, this.look);
    return draft === "" ? ["", spinner] : [draft, "", spinner];
  }
}
