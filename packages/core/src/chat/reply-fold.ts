import { Doing } from "../runner/doing.ts";
import { toolName } from "../runner/gist.ts";
import type { JobEvent } from "../runner/job-event.ts";

const longestDoing = 120;

/** What a job has said so far, as somebody who waits for its answer wants to see it. */
export class ReplyFold {
  private readonly doing = new Doing();
  private readonly calls = new Map<string, number>();
  private said = "";
  private piece = "";
  private result = "";

  see(event: JobEvent): void {
    this.doing.see(event);
    this.folds[event.kind]?.(event);
  }

  /** The answer as far as it is known, and what is done right now. */
  progress(most: number): string {
    const text = this.piece || this.said;
    const line = `⏳ ${this.doing.text.slice(0, longestDoing)}`;
    const room = most - line.length - 3;
    const shown = text.length > room ? `…${text.slice(text.length - room + 1)}` : text;
    return shown === "" ? line : `${shown}\n\n${line}`;
  }

  /** The last words of the run. */
  get answer(): string {
    return (this.result || this.said).trim();
  }

  /** `Bash ×2, Edit`; empty when no tool was used. */
  get tools(): string {
    return [...this.calls]
      .map(([tool, times]) => (times === 1 ? tool : `${tool} ×${times}`))
      .join(", ");
  }

  private readonly folds: { [K in JobEvent["kind"]]?: (event: JobEvent) => void } = {
    text_piece: (event) => {
      if (event.kind === "text_piece" && event.parent === null) this.piece += event.text;
    },
    text: (event) => {
      if (event.kind !== "text" || event.parent !== null) return;
      this.said = event.text;
      this.piece = "";
    },
    tool_call: (event) => {
      if (event.kind !== "tool_call" || event.parent !== null) return;
      const name = toolName(event.tool);
      this.calls.set(name, (this.calls.get(name) ?? 0) + 1);
    },
    result: (event) => {
      if (event.kind === "result" && !event.isError) this.result = event.text;
    },
  };
}
