import type { JobEvent } from "@herdctl/core";
import { gistOf, toolName } from "@herdctl/core/light";
import {
  callLine,
  noticeLine,
  resultLines,
  startLine,
  textLines,
  thinkingLine,
} from "./event-lines.ts";
import { harmlessAll } from "./harmless.ts";
import { type Look, widthInFile } from "./look.ts";
import { Speech } from "./speech.ts";

interface Call {
  name: string;
  gist: string;
  depth: number;
}

const agentTools = new Set(["Agent", "Task"]);

/** A blank line stands between talk and work. */
type Mood = "talk" | "work";

type Of<K extends JobEvent["kind"]> = Extract<JobEvent, { kind: K }>;

/** Turns the events of a job, one after the other, into lines. It writes nothing itself. */
export class Painter {
  private readonly calls = new Map<string, Call>();
  private readonly open = new Set<string>();
  private readonly speech: Speech;
  private lastCall: string | undefined;
  private mood: Mood | undefined;
  private begun = false;
  private folder: string | undefined;

  constructor(private readonly look: Look) {
    this.speech = new Speech(look.width ?? widthInFile);
  }

  /** The last line of a text that is still being spoken. */
  get draft(): string {
    return this.speech.draft;
  }

  paint(event: JobEvent): string[] {
    if (event.kind === "other" || event.kind === "result") return [];
    if (event.kind === "text_piece") return this.piece(event);
    if (event.kind === "retry") return [...this.speech.forget(), ...this.lines(event)];
    if (event.kind !== "text" || event.parent !== null) {
      return [...this.speech.pause(), ...this.lines(harmlessAll(event))];
    }
    return (
      this.speech.complete(event.text) ?? [
        ...this.speech.forget(),
        ...this.lines(harmlessAll(event)),
      ]
    );
  }

  /** What is left of a text that will not be completed. */
  finish(): string[] {
    return this.speech.forget();
  }

  /** A subagent is not listened to while it speaks: several may speak at once. */
  private piece({ text, parent }: Of<"text_piece">): string[] {
    if (parent !== null) return [];
    if (!this.speech.isUnderWay && text.trim() === "") return [];
    return [...this.inMood("talk", []), ...this.speech.say(text)];
  }

  private lines(event: Exclude<JobEvent, Of<"other" | "result" | "text_piece">>): string[] {
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

  /** Each time that background work comes back, claude begins once more. */
  private started(event: Of<"started">): string[] {
    if (this.begun) return [];
    this.begun = true;
    this.folder = event.cwd;
    return [startLine(event, this.look)];
  }

  private text({ text, parent }: Of<"text">): string[] {
    if (text.trim() === "") return [];
    const depth = this.depthBelow(parent);
    const lines = textLines(text, this.lookAt(depth));
    return this.inMood(depth === 0 ? "talk" : "work", this.indented(lines, depth));
  }

  private thinking({ text, parent }: Of<"thinking">): string[] {
    if (text.trim() === "") return [];
    const depth = this.depthBelow(parent);
    const lines = [thinkingLine(text, this.lookAt(depth))];
    return this.inMood(depth === 0 ? "talk" : "work", this.indented(lines, depth));
  }

  private call({ id, tool, input, parent }: Of<"tool_call">): string[] {
    const depth = this.depthBelow(parent);
    const call = { name: toolName(tool), gist: gistOf(tool, input, this.folder), depth };
    this.calls.set(id, call);
    this.open.add(id);
    this.lastCall = id;
    return this.inMood("work", this.indented([callLine(call, this.lookAt(depth))], depth));
  }

  private result(event: Of<"tool_result">): string[] {
    const call = this.calls.get(event.id);
    const depth = call?.depth ?? this.depthBelow(event.parent);
    const named = event.id === this.lastCall ? undefined : call;
    const lines = resultLines(event, named, this.lookAt(depth));
    this.lastCall = undefined;
    this.open.delete(event.id);
    return this.inMood("work", this.indented(lines, depth));
  }

  private notice(event: Of<"denied" | "retry" | "limit" | "task">): string[] {
    // A subagent that is waited for is a task too, but its call and its result say all of it.
    const isAwaited = [...this.open].some((id) => agentTools.has(this.calls.get(id)?.name ?? ""));
    const line = event.kind === "task" && isAwaited ? undefined : noticeLine(event, this.look);
    return line === undefined ? [] : this.inMood("work", [line]);
  }

  private depthBelow(parent: string | null): number {
    return parent === null ? 0 : (this.calls.get(parent)?.depth ?? 0) + 1;
  }

  private lookAt(depth: number): Look {
    const { width } = this.look;
    return {
      ...this.look,
      width: width === undefined ? undefined : Math.max(width - 2 * depth, 20),
    };
  }

  private indented(lines: string[], depth: number): string[] {
    const margin = this.look.colors.dim("│ ").repeat(depth);
    return lines.map((line) => margin + line);
  }

  private inMood(mood: Mood, lines: string[]): string[] {
    const changed = this.mood !== mood && (this.mood !== undefined || this.begun);
    this.mood = mood;
    return changed ? ["", ...lines] : lines;
  }
}
