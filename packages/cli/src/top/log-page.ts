import type { FleetControl, Job } from "@herdctl/core";
import { endingLines } from "../show/ending.ts";
import { eventsOfLine } from "../show/events-of-line.ts";
import { harmless } from "../show/harmless.ts";
import type { Look } from "../show/look.ts";
import { Painter } from "../show/painter.ts";
import type { Key } from "./keys.ts";
import type { Move, Page, Size } from "./page.ts";
import { Window } from "./window.ts";

const mostLines = 20_000;

/** What one job did and does, as it is seen at work. */
export class LogPage implements Page {
  private readonly window = new Window({ atEnd: true });
  private readonly over = new AbortController();
  private readonly painter: Painter;
  private written: string[] = [];
  private job: Job | undefined;

  constructor(
    private readonly fleet: FleetControl,
    private readonly jobId: string,
    private readonly look: Look,
  ) {
    const width = look.width === undefined ? undefined : look.width - 2;
    this.painter = new Painter({ ...look, width });
    void this.read().catch((error) => this.written.push(harmless(String(error))));
  }

  lines(size: Size): string[] {
    const { bold, dim } = this.look.colors;
    const draft = this.painter.draft === "" ? [] : [this.painter.draft];
    const seen = this.window.view([...this.written, ...draft], size.rows - 3);
    const place = this.window.place;
    return [
      ` ${bold(harmless(this.job?.agent ?? ""))}  ${dim(this.jobId)}`,
      ...seen.map((line) => ` ${line}`),
      ...Array.from({ length: size.rows - 3 - seen.length }, () => ""),
      dim("─".repeat(size.columns)),
      dim(` ↑↓ move   c cancel   q back   ${place}`),
    ];
  }

  async press(key: Key): Promise<Move> {
    if (this.window.press(key)) return "stay";
    if (key.name === "back") return "back";
    if (key.name === "letter" && key.letter === "c") await this.fleet.cancel(this.jobId);
    return "stay";
  }

  close(): void {
    this.over.abort();
  }

  private async read(): Promise<void> {
    this.job = (await this.fleet.job(this.jobId))?.job;
    for await (const { message } of this.fleet.output(this.jobId, { follow: this.over.signal })) {
      for (const event of eventsOfLine({ ...message })) this.add(this.painter.paint(event));
    }
    this.add(this.painter.finish());
    this.job = (await this.fleet.job(this.jobId))?.job;
    if (this.job) this.add(["", ...endingLines(this.job, undefined, this.look)]);
  }

  private add(lines: string[]): void {
    this.written.push(...lines);
    if (this.written.length > mostLines) this.written = this.written.slice(-mostLines);
  }
}
