import { createWriteStream, type WriteStream } from "node:fs";
import { join } from "node:path";

const mostKept = 10 * 1024 * 1024;
const tailKept = 16 * 1024;

/** What claude says on standard error: in a file for people, its end in memory as evidence. */
export class StderrLog {
  private readonly stream: WriteStream;
  private written = 0;
  private end = "";

  constructor(jobDir: string) {
    this.stream = createWriteStream(join(jobDir, "stderr.log"), { flags: "a", mode: 0o600 });
    // A full disk must not take the run down for its own complaints.
    this.stream.on("error", () => undefined);
  }

  get tail(): string {
    return this.end;
  }

  add(text: string): void {
    this.end = (this.end + text).slice(-tailKept);
    this.note(text);
  }

  /** What others said belongs into the file, but is no evidence of how the run ended. */
  note(text: string): void {
    if (this.written > mostKept) return;
    this.written += text.length;
    this.stream.write(text);
  }

  close(): Promise<void> {
    return new Promise((resolve) => this.stream.end(() => resolve()));
  }
}
