import type { TerminalStyle } from "../render/terminal-style.ts";
import { wrapLine } from "../render/text-width.ts";
import type { Navigation, Page, ScreenSize } from "./page.ts";

/** A text input below the question. */
export class TextInputPage implements Page {
  private input = "";

  constructor(
    private readonly headerLines: string[],
    private readonly style: TerminalStyle,
    private readonly onSubmit: (text: string) => Promise<void>,
  ) {}

  render(size: ScreenSize): string[] {
    const { bold, dim, yellow } = this.style.colors;
    const headerLines = this.headerLines.flatMap((line) => wrapLine(line, size.columns - 1));
    const line = wrapLine(`> ${this.input}▏`, size.columns - 2).map((one) => ` ${bold(one)}`);
    const shown = headerLines.slice(0, Math.max(size.rows - line.length - 3, 1));
    return [...shown, "", ...line, dim("─".repeat(size.columns)), yellow(" enter send   esc back")];
  }

  async onKey(): Promise<Navigation> {
    return "stay";
  }

  async onInput(text: string): Promise<Navigation> {
    if (text === "\x1b") return "back";
    for (const character of text.replaceAll(escapeSequences, "")) {
      if (character === "\r" || character === "\n") return this.submitInput();
      if (character === "\x7f" || character === "\b")
        this.input = [...this.input].slice(0, -1).join("");
      else if (character >= " ") this.input += character;
    }
    return "stay";
  }

  close(): void {}

  private async submitInput(): Promise<Navigation> {
    if (this.input.trim() === "") return "stay";
    await this.onSubmit(this.input);
    return "back";
  }
}

/** Arrow keys and similar, which insert no text. */
const escapeSequences = /\x1b(?:\[[\d;]*[A-Za-z~]|O[A-Z])/g;
