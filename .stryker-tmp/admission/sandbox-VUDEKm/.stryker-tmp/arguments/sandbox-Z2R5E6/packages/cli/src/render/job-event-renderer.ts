import { displayToolName, type JobEvent, summarizeToolCall } from "@herdctl/protocol";
import {
  callLine,
  noticeLine,
  resultLines,
  startLine,
  textLines,
  thinkingLine,
} from "./event-lines.ts";
import { sanitizeDeep } from "./sanitize-text.ts";
import { StreamingText } from "./streaming-text.ts";
import { fallbackWidthColumns, type TerminalStyle } from "./terminal-style.ts";

interface RenderedCall {
  name: string;
  summary: string;
  depth: number;
}

const subagentTools = new Set(["Agent", "Task"]);

/** Blocks of text and blocks of tool calls are separated by a blank line. */
type BlockKind = "talk" | "work";

type EventOfKind<K extends JobEvent["kind"]> = Extract<JobEvent, { kind: K }>;

/** Converts the events of a job to lines of text. */
export class JobEventRenderer {
  private readonly calls = new Map<string, RenderedCall>();
  private readonly openCallIds = new Set<string>();
  private readonly streamingText: StreamingText;
  private lastCall: string | undefined;
  private blockKind: BlockKind | undefined;
  private hasStarted = false;
  private workingDirectory: string | undefined;

  constructor(private readonly style: TerminalStyle) {
    this.streamingText = new StreamingText(style.width ?? fallbackWidthColumns);
  }

  /** The incomplete last line of the text that is being streamed. */
  get draft(): string {
    return this.streamingText.draft;
  }

  render(event: JobEvent): string[] {
    if (event.kind === "other" || event.kind === "result") return [];
    if (event.kind === "text_piece") return this.textPiece(event);
    if (event.kind === "retry") return [...this.streamingText.reset(), ...this.lines(event)];
    if (event.kind !== "text" || event.parent !== null) {
      return [...this.streamingText.flushDraft(), ...this.lines(sanitizeDeep(event))];
    }
    return (
      this.streamingText.complete(event.text) ?? [
        ...this.streamingText.reset(),
        ...this.lines(sanitizeDeep(event)),
      ]
    );
  }

  /** Returns the rest of a text that will not be completed. */
  finish(): string[] {
    return this.streamingText.reset();
  }

  /** Texts of subagents are not streamed, because several subagents may write concurrently. */
  private textPiece({ text, parent }: EventOfKind<"text_piece">): string[] {
    if (parent !== null) return [];
    if (!this.streamingText.hasText && text.trim() === "") return [];
    return [...this.startBlock("talk", []), ...this.streamingText.append(text)];
  }

  private lines(
    event: Exclude<JobEvent, EventOfKind<"other" | "result" | "text_piece">>,
  ): string[] {
    switch (event.kind) {
      case "started":
        return this.started(event);
      case "text":
        return this.text(event);
      case "thinking":
        return this.thinking(event);
      case "tool_call":
        return this.call(event);
      case "tool_result":
        return this.result(event);
      default:
        return this.notice(event);
    }
  }

  /** Claude Code sends another start message whenever a background task returns. */
  private started(event: EventOfKind<"started">): string[] {
    if (this.hasStarted) return [];
    this.hasStarted = true;
    this.workingDirectory = event.cwd;
    return [startLine(event, this.style)];
  }

  private text({ text, parent }: EventOfKind<"text">): string[] {
    if (text.trim() === "") return [];
    const depth = this.depthUnder(parent);
    const lines = textLines(text, this.styleAtDepth(depth));
    return this.startBlock(depth === 0 ? "talk" : "work", this.indentLines(lines, depth));
  }

  private thinking({ text, parent }: EventOfKind<"thinking">): string[] {
    if (text.trim() === "") return [];
    const depth = this.depthUnder(parent);
    const lines = [thinkingLine(text, this.styleAtDepth(depth))];
    return this.startBlock(depth === 0 ? "talk" : "work", this.indentLines(lines, depth));
  }

  private call({ id, tool, input, parent }: EventOfKind<"tool_call">): string[] {
    const depth = this.depthUnder(parent);
    const call = {
      name: displayToolName(tool),
      summary: summarizeToolCall(tool, input, this.workingDirectory),
      depth,
    };
    this.calls.set(id, call);
    this.openCallIds.add(id);
    this.lastCall = id;
    return this.startBlock(
      "work",
      this.indentLines([callLine(call, this.styleAtDepth(depth))], depth),
    );
  }

  private result(event: EventOfKind<"tool_result">): string[] {
    const call = this.calls.get(event.id);
    const depth = call?.depth ?? this.depthUnder(event.parent);
    const named = event.id === this.lastCall ? undefined : call;
    const lines = resultLines(event, named, this.styleAtDepth(depth));
    this.lastCall = undefined;
    this.openCallIds.delete(event.id);
    return this.startBlock("work", this.indentLines(lines, depth));
  }

  private notice(event: EventOfKind<"denied" | "retry" | "limit" | "task">): string[] {
    // A subagent in the foreground is a task too, but its call and result are already displayed.
    const isAwaited = [...this.openCallIds].some((id) =>
      subagentTools.has(this.calls.get(id)?.name ?? ""),
    );
    const line = event.kind === "task" && isAwaited ? undefined : noticeLine(event, this.style);
    return line === undefined ? [] : this.startBlock("work", [line]);
  }

  private depthUnder(parent: string | null): number {
    return parent === null ? 0 : (this.calls.get(parent)?.depth ?? 0) + 1;
  }

  private styleAtDepth(depth: number): TerminalStyle {
    const { width } = this.style;
    return {
      ...this.style,
      width: width === undefined ? undefined : Math.max(width - 2 * depth, 20),
    };
  }

  private indentLines(lines: string[], depth: number): string[] {
    const margin = this.style.colors.dim("│ ").repeat(depth);
    return lines.map((line) => margin + line);
  }

  private startBlock(blockKind: BlockKind, lines: string[]): string[] {
    const isNewBlock =
      this.blockKind !== blockKind && (this.blockKind !== undefined || this.hasStarted);
    this.blockKind = blockKind;
    return isNewBlock ? ["", ...lines] : lines;
  }
}
