import { gistOf, toolName } from "./gist.ts";
import type { JobEvent } from "./job-event.ts";
import { progressOf } from "./progress.ts";

/** Follows what an agent is at right now, in a few words. They are its own: not fit for a screen yet. */
export class Doing {
  private readonly open = new Map<string, string>();
  private readonly said = new Map<string, string>();
  private last = "starting";
  private progress: string | undefined;
  private folder: string | undefined;

  see(event: JobEvent): void {
    if (event.kind === "started") this.begin(event.cwd);
    if (event.kind === "tool_call") this.call(event);
    if (event.kind === "tool_result") this.close(event);
    this.last = words[event.kind] ?? this.last;
  }

  /** What it said itself of its progress comes first, then what is seen of it. */
  get text(): string {
    if (this.last === words.retry || this.last === words.result) return this.last;
    const calls = [...this.open.values()];
    const [first] = calls;
    if (first === undefined) return this.progress ?? this.last;
    const seen = calls.length === 1 ? first : `${first} and ${calls.length - 1} more`;
    return this.progress === undefined ? seen : `${this.progress} · ${seen}`;
  }

  /** What an earlier attempt left open is over. */
  private begin(folder: string): void {
    this.folder = folder;
    this.open.clear();
  }

  private call({ id, tool, input }: Extract<JobEvent, { kind: "tool_call" }>): void {
    const progress = progressOf(tool, input);
    if (progress !== undefined) this.said.set(id, progress);
    else this.open.set(id, `${toolName(tool)} ${gistOf(tool, input, this.folder)}`.trim());
  }

  private close({ id, isError }: Extract<JobEvent, { kind: "tool_result" }>): void {
    if (!isError) this.progress = this.said.get(id) ?? this.progress;
    this.said.delete(id);
    this.open.delete(id);
  }
}

const words: Partial<Record<JobEvent["kind"], string>> = {
  started: "thinking",
  text_piece: "writing",
  text: "thinking",
  thinking: "thinking",
  tool_call: "working",
  tool_result: "thinking",
  retry: "waiting for the API",
  result: "finishing",
};
