import type { JobEvent } from "./job-event.ts";
import { displayToolName, summarizeToolCall } from "./tool-summary.ts";

/** Tracks the current activity of an agent in a few words. The text is not sanitized. */
export class ActivityTracker {
  private readonly openCalls = new Map<string, string>();
  private readonly pendingProgress = new Map<string, string>();
  private lastActivity = "starting";
  private progress: string | undefined;
  private workingDirectory: string | undefined;

  addEvent(event: JobEvent): void {
    if (event.kind === "started") this.startAttempt(event.cwd);
    if (event.kind === "tool_call") this.startCall(event);
    if (event.kind === "tool_result") this.endCall(event);
    this.lastActivity = activityTexts[event.kind] ?? this.lastActivity;
  }

  /** Progress that the agent reported, followed by its running tool calls. */
  get text(): string {
    if (this.lastActivity === activityTexts.retry || this.lastActivity === activityTexts.result)
      return this.lastActivity;
    const calls = [...this.openCalls.values()];
    const [first] = calls;
    if (first === undefined) return this.progress ?? this.lastActivity;
    const callText = calls.length === 1 ? first : `${first} and ${calls.length - 1} more`;
    return this.progress === undefined ? callText : `${this.progress} · ${callText}`;
  }

  /** Tool calls of an earlier attempt cannot return any more. */
  private startAttempt(workingDirectory: string): void {
    this.workingDirectory = workingDirectory;
    this.openCalls.clear();
  }

  private startCall({ id, tool, input }: Extract<JobEvent, { kind: "tool_call" }>): void {
    const progress = parseProgress(tool, input);
    if (progress !== undefined) this.pendingProgress.set(id, progress);
    else
      this.openCalls.set(
        id,
        `${displayToolName(tool)} ${summarizeToolCall(tool, input, this.workingDirectory)}`.trim(),
      );
  }

  private endCall({ id, isError }: Extract<JobEvent, { kind: "tool_result" }>): void {
    if (!isError) this.progress = this.pendingProgress.get(id) ?? this.progress;
    this.pendingProgress.delete(id);
    this.openCalls.delete(id);
  }
}

const activityTexts: Partial<Record<JobEvent["kind"], string>> = {
  started: "thinking",
  text_piece: "writing",
  text: "thinking",
  thinking: "thinking",
  tool_call: "working",
  tool_result: "thinking",
  retry: "waiting for the API",
  result: "finishing",
};

/** The input of the fleet's progress tool as text: `40 % reading the tests`. */
export function parseProgress(tool: string, input: unknown): string | undefined {
  if (tool !== "mcp__herd__progress" || typeof input !== "object" || input === null) return;
  const { text, fraction }: { text?: unknown; fraction?: unknown } = input;
  if (typeof text !== "string") return;
  const isFraction = typeof fraction === "number" && fraction >= 0 && fraction <= 1;
  const percentText = isFraction ? [`${Math.floor(fraction * 100)} %`] : [];
  return [...percentText, text.trim().replaceAll(/\s+/g, " ")].join(" ");
}
