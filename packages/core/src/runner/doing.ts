import { gistOf, toolName } from "./gist.ts";
import type { JobEvent } from "./job-event.ts";

/** Follows what an agent is at right now, in a few words. They are its own: not fit for a screen yet. */
export class Doing {
  private readonly open = new Map<string, string>();
  private last = "starting";
  private folder: string | undefined;

  see(event: JobEvent): void {
    if (event.kind === "started") this.begin(event.cwd);
    if (event.kind === "tool_call") this.open.set(event.id, this.callText(event));
    if (event.kind === "tool_result") this.open.delete(event.id);
    this.last = words[event.kind] ?? this.last;
  }

  get text(): string {
    const calls = [...this.open.values()];
    const [first] = calls;
    if (first === undefined || this.last === words.retry) return this.last;
    return calls.length === 1 ? first : `${first} and ${calls.length - 1} more`;
  }

  /** What an earlier attempt left open is over. */
  private begin(folder: string): void {
    this.folder = folder;
    this.open.clear();
  }

  private callText({ tool, input }: Extract<JobEvent, { kind: "tool_call" }>): string {
    return `${toolName(tool)} ${gistOf(tool, input, this.folder)}`.trim();
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
