import type { FleetControl, Job } from "@herdctl/protocol";
import { jobEndLines } from "../render/job-end-lines.ts";
import { JobEventRenderer } from "../render/job-event-renderer.ts";
import { parseLogMessage } from "../render/parse-log-message.ts";
import { sanitizeText } from "../render/sanitize-text.ts";
import type { TerminalStyle } from "../render/terminal-style.ts";
import type { Key } from "./keys.ts";
import type { Navigation, Page, ScreenSize } from "./page.ts";
import { ScrollWindow } from "./scroll-window.ts";

const maxLines = 20_000;

/** The log of one job, followed live. */
export class LogPage implements Page {
  private readonly window = new ScrollWindow({ atEnd: true });
  private readonly abortController = new AbortController();
  private readonly renderer: JobEventRenderer;
  private loggedLines: string[] = [];
  private job: Job | undefined;

  constructor(
    private readonly fleet: FleetControl,
    private readonly jobId: string,
    private readonly style: TerminalStyle,
  ) {
    const width = style.width === undefined ? undefined : style.width - 2;
    this.renderer = new JobEventRenderer({ ...style, width });
    void this.streamLog().catch((error) => this.loggedLines.push(sanitizeText(String(error))));
  }

  render(size: ScreenSize): string[] {
    const { bold, dim } = this.style.colors;
    const draft = this.renderer.draft === "" ? [] : [this.renderer.draft];
    const visibleLines = this.window.visibleLines([...this.loggedLines, ...draft], size.rows - 3);
    const position = this.window.positionText;
    return [
      ` ${bold(sanitizeText(this.job?.agent ?? ""))}  ${dim(this.jobId)}`,
      ...visibleLines.map((line) => ` ${line}`),
      ...Array.from({ length: size.rows - 3 - visibleLines.length }, () => ""),
      dim("─".repeat(size.columns)),
      dim(` ↑↓ move   c cancel   q back   ${position}`),
    ];
  }

  async onKey(key: Key): Promise<Navigation> {
    if (this.window.handleKey(key)) return "stay";
    if (key.name === "back") return "back";
    if (key.name === "letter" && key.letter === "c") await this.fleet.jobs.cancel(this.jobId);
    return "stay";
  }

  close(): void {
    this.abortController.abort();
  }

  private async streamLog(): Promise<void> {
    this.job = (await this.fleet.jobs.get(this.jobId))?.job;
    for await (const { message } of this.fleet.jobs.output(this.jobId, {
      follow: true,
      signal: this.abortController.signal,
    })) {
      for (const event of parseLogMessage({ ...message }))
        this.appendLines(this.renderer.render(event));
    }
    this.appendLines(this.renderer.finish());
    this.job = (await this.fleet.jobs.get(this.jobId))?.job;
    if (this.job) this.appendLines(["", ...jobEndLines(this.job, undefined, this.style)]);
  }

  private appendLines(lines: string[]): void {
    this.loggedLines.push(...lines);
    if (this.loggedLines.length > maxLines) this.loggedLines = this.loggedLines.slice(-maxLines);
  }
}
