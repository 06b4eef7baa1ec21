import type { Look } from "../show/look.ts";
import { wrap } from "../show/width.ts";
import type { Move, Page, Size } from "./page.ts";

/** A line to write on, below what it is about. */
export class TypePage implements Page {
  private written = "";

  constructor(
    private readonly about: string[],
    private readonly look: Look,
    private readonly submit: (text: string) => Promise<void>,
  ) {}

  lines(size: Size): string[] {
    const { bold, dim, yellow } = this.look.colors;
    const about = this.about.flatMap((line) => wrap(line, size.columns - 1));
    const line = wrap(`> ${this.written}▏`, size.columns - 2).map((one) => ` ${bold(one)}`);
    const shown = about.slice(0, Math.max(size.rows - line.length - 3, 1));
    return [
      ...shown,
      "",
      ...line,
      dim("─".repeat(size.columns)),
      yellow(" enter answer   esc back"),
    ];
  }

  async press(): Promise<Move> {
    return "stay";
  }

  async type(text: string): Promise<Move> {
    if (text === "\x1b") return "back";
    for (const character of text.replaceAll(sequences, "")) {
      if (character === "\r" || character === "\n") return this.end();
      if (character === "\x7f" || character === "\b")
        this.written = [...this.written].slice(0, -1).join("");
      else if (character >= " ") this.written += character;
    }
    return "stay";
  }

  close(): void {}

  private async end(): Promise<Move> {
    if (this.written.trim() === "") return "stay";
    await this.submit(this.written);
    return "back";
  }
}

/** Arrows and the like, which write nothing. */
const sequences = /\x1b(?:\[[\d;]*[A-Za-z~]|O[A-Z])/g;
