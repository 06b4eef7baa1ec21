import { createWriteStream, type WriteStream } from "node:fs";
import { join } from "node:path";
import type { Redactor, TextRedactor } from "./redactor.ts";

const maxFileLength = 10 * 1024 * 1024;
const maxTailLength = 16 * 1024;

/** Redacted stderr of claude: written to a file for people, and its end kept in memory as evidence. */
export class StderrLog {
  private readonly stream: WriteStream;
  private writtenLength = 0;
  private tailText = "";
  private readonly textRedactor: TextRedactor;

  constructor(
    jobDir: string,
    private readonly redactor: Redactor,
  ) {
    this.textRedactor = redactor.createTextRedactor();
    this.stream = createWriteStream(join(jobDir, "stderr.log"), { flags: "a", mode: 0o600 });
    // A full disk must not end the run because of its stderr.
    this.stream.on("error", () => undefined);
  }

  get tail(): string {
    return this.tailText;
  }

  add(text: string): void {
    // defence: redacted-stderr
    this.keep(this.textRedactor.add(text));
  }

  /** Output of MCP servers is written to the file, but is not evidence of how the run ended. */
  note(text: string): void {
    this.write(this.redactor.redact(text));
  }

  close(): Promise<void> {
    this.keep(this.textRedactor.end());
    return new Promise((resolve) => this.stream.end(() => resolve()));
  }

  private keep(text: string): void {
    this.tailText = (this.tailText + text).slice(-maxTailLength);
    this.write(text);
  }

  private write(text: string): void {
    if (text === "" || this.writtenLength > maxFileLength) return;
    this.writtenLength += text.length;
    this.stream.write(text);
  }
}
