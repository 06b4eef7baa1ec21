const most = 16 * 1024;

/** Keeps the end of what is said, however much that is. */
export class TailBuffer {
  private kept = Buffer.alloc(0);
  private dropped = false;

  add(data: Buffer): void {
    const whole = Buffer.concat([this.kept, data]);
    this.dropped ||= whole.length > most;
    this.kept = whole.subarray(-most);
  }

  get text(): string {
    return `${this.dropped ? "…" : ""}${this.kept.toString("utf8").trimEnd()}`;
  }
}
