import { ActivityTracker, displayToolName, type JobEvent } from "@herdctl/protocol";

const maxActivityLength = 120;

/** The output of a job so far, condensed for a person who waits for the answer. */
export class ReplyFold {
  private readonly activity = new ActivityTracker();
  private readonly toolCounts = new Map<string, number>();
  private lastText = "";
  private streamedText = "";
  private result = "";

  apply(event: JobEvent): void {
    this.activity.addEvent(event);
    this.folds[event.kind]?.(event);
  }

  /** The answer so far, and the current activity. */
  progress(maxLength: number): string {
    const text = this.streamedText || this.lastText;
    const line = `⏳ ${this.activity.text.slice(0, maxActivityLength)}`;
    const room = maxLength - line.length - 3;
    const shown = text.length > room ? `…${text.slice(text.length - room + 1)}` : text;
    return shown === "" ? line : `${shown}\n\n${line}`;
  }

  /** The final text of the run. */
  get answer(): string {
    return (this.result || this.lastText).trim();
  }

  /** `Bash ×2, Edit`; empty when no tool was used. */
  get tools(): string {
    return [...this.toolCounts]
      .map(([tool, times]) => (times === 1 ? tool : `${tool} ×${times}`))
      .join(", ");
  }

  private readonly folds: { [K in JobEvent["kind"]]?: (event: JobEvent) => void } = {
    text_piece: (event) => {
      if (event.kind === "text_piece" && event.parent === null) this.streamedText += event.text;
    },
    text: (event) => {
      if (event.kind !== "text" || event.parent !== null) return;
      this.lastText = event.text;
      this.streamedText = "";
    },
    tool_call: (event) => {
      if (event.kind !== "tool_call" || event.parent !== null) return;
      const name = displayToolName(event.tool);
      this.toolCounts.set(name, (this.toolCounts.get(name) ?? 0) + 1);
    },
    result: (event) => {
      if (event.kind === "result" && !event.isError) this.result = event.text;
    },
  };
}
