import { harmless } from "./harmless.ts";
import { wrap } from "./width.ts";

/** A text as it is spoken: whole lines are let go, the last one grows until its end is known. */
export class Speech {
  /** The line that is still growing. */
  draft = "";
  private said = "";

  constructor(private readonly width: number) {}

  get isUnderWay(): boolean {
    return this.said !== "";
  }

  say(piece: string): string[] {
    const isStart = this.said === "";
    const fresh = isStart ? piece.trimStart() : piece;
    this.said += fresh;
    const lines = (this.draft + harmless(fresh))
      .split("\n")
      .flatMap((line) => wrap(line, this.width));
    this.draft = lines.pop() ?? "";
    return lines;
  }

  /** Something else is to be shown: what comes afterwards begins a new line. */
  pause(): string[] {
    const lines = this.draft === "" ? [] : [this.draft];
    this.draft = "";
    return lines;
  }

  /** What was said will be said again from the start. */
  forget(): string[] {
    this.said = "";
    return this.pause();
  }

  /** The whole text came: what is missing of it, or undefined when it was not this that was spoken. */
  complete(whole: string): string[] | undefined {
    const text = whole.trimStart();
    const isKnown = this.said !== "" && text.startsWith(this.said.trimEnd());
    const isHeard = this.said.trimEnd().endsWith(text.trimEnd()) && this.said !== "";
    if (!isKnown && !isHeard) return undefined;
    const missing = isKnown ? text.trimEnd().slice(this.said.length) : "";
    return [...this.say(missing), ...this.forget()];
  }
}
