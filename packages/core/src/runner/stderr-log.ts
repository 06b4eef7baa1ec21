import { createWriteStream, type WriteStream } from "node:fs";
import { join } from "node:path";
import type { Redactor, TextStream } from "./redactor.ts";

const mostKept = 10 * 1024 * 1024;
const tailKept = 16 * 1024;

/** Standard error of claude without secrets: in a file for people, its end in memory as evidence. */
export class StderrLog {
  private readonly stream: WriteStream;
  private written = 0;
  private end = "";
  private readonly redacted: TextStream;

  constructor(
    jobDir: string,
    private readonly redactor: Redactor,
  ) {
    this.redacted = redactor.textStream();
    this.stream = createWriteStream(join(jobDir, "stderr.log"), { flags: "a", mode: 0o600 });
    // A full disk must not take the run down for its own complaints.
    this.stream.on("error", () => undefined);
  }

  get tail(): string {
    return this.end;
  }

  add(text: string): void {
    this.keep(this.redacted.add(text));
  }

  /** Output of MCP servers goes to the file, but is no evidence of how the run ended. */
  note(text: string): void {
    this.write(this.redactor.redact(text));
  }

  close(): Promise<void> {
    this.keep(this.redacted.end());
    return new Promise((resolve) => this.stream.end(() => resolve()));
  }

  private keep(text: string): void {
    this.end = (this.end + text).slice(-tailKept);
    this.write(text);
  }

  private write(text: string): void {
    if (text === "" || this.written > mostKept) return;
    this.written += text.length;
    this.stream.write(text);
  }
}
