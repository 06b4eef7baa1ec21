import { ActivityTracker, type JobEvent } from "@herdctl/protocol";
import { JobEventRenderer } from "./job-event-renderer.ts";
import { sanitizeText } from "./sanitize-text.ts";
import type { Screen } from "./screen.ts";
import { frameIntervalMs, spinnerLine } from "./spinner.ts";
import type { TerminalStyle } from "./terminal-style.ts";

/** Shows a running job: its events, and its current activity below them. */
export class LiveJobDisplay {
  /** The turns of the last result, which the job record does not contain. */
  turns: number | undefined;
  private readonly renderer: JobEventRenderer;
  private readonly activity = new ActivityTracker();
  private timer: NodeJS.Timeout | undefined;
  private startedAtMs = Date.now();
  private stopMessage = "";
  private waitReason = "";
  private pendingLines: string[] = [];

  constructor(
    private readonly screen: Screen,
    private readonly style: TerminalStyle,
  ) {
    this.renderer = new JobEventRenderer(style);
  }

  start(startedAtMs: number): void {
    this.startedAtMs = startedAtMs;
    this.resume();
  }

  addEvent(event: JobEvent): void {
    if (event.kind === "result") this.turns = event.turns;
    this.activity.addEvent(event);
    this.printLines(this.renderer.render(event));
  }

  /** Prints a line between those of the agent. */
  addLine(line: string): void {
    this.printLines([...this.renderer.finish(), line]);
  }

  /** Replaces the activity beside the spinner from now on. */
  showStopMessage(text: string): void {
    this.stopMessage = text;
    this.printLines([]);
  }

  /** Replaces the activity beside the spinner; empty once the job runs. */
  showWait(reason: string): void {
    this.waitReason = reason;
    this.printLines([]);
  }

  /** Releases the screen, for example for a prompt. New lines are kept until `resume`. */
  pause(last: string[] = []): void {
    clearInterval(this.timer);
    this.timer = undefined;
    this.screen.show(last, []);
  }

  resume(): void {
    this.timer ??= setInterval(() => this.printLines([]), frameIntervalMs);
    this.printLines([]);
  }

  end(): void {
    this.pause([...this.pendingLines, ...this.renderer.finish()]);
    this.pendingLines = [];
    this.screen.close();
  }

  private printLines(lines: string[]): void {
    this.pendingLines.push(...lines);
    if (!this.timer) return;
    this.screen.show(this.pendingLines, this.footerLines());
    this.pendingLines = [];
  }

  private footerLines(): string[] {
    const { draft } = this.renderer;
    const activity = this.stopMessage || this.waitReason || sanitizeText(this.activity.text);
    const spinner = spinnerLine(Date.now() - this.startedAtMs, activity, this.style);
    return draft === "" ? ["", spinner] : [draft, "", spinner];
  }
}
