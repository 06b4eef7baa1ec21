import { existsSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { dirname } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { UserError } from "../../errors/user-error.ts";
import { writeFileAtomic } from "../../state/atomic-file.ts";
import { completeLines } from "../../state/growing-file.ts";
import type { Job } from "../../state/job.ts";
import type { KeptFileStore, OutputStore } from "../../state/shared.ts";
import { shipKeptFiles } from "./ship-kept-files.ts";

const atMostEvery = 250;
const enough = 64 * 1024;
const tryAgainAfter = 1_000;

export interface ShipperOptions {
  outputs: OutputStore;
  files: KeptFileStore;
  /** There is more of it. */
  tell(jobId: string): void;
  trouble(message: string, cause?: unknown): void;
}

/** Brings the logs of jobs that run here into the store, where other nodes read them. */
export class OutputShipper {
  constructor(private readonly options: ShipperOptions) {}

  /**
   * Where another node had the job before, its log goes on here: the same places in it mean the same
   * everywhere. What that node had not shipped is lost, and so it is in a log that an older attempt
   * has left here.
   */
  async bringHere({ id, node, output_file }: Job, here: string): Promise<void> {
    if (node === null || node === here) return;
    const pieces = await this.options.outputs.read(id, 0);
    if (pieces.length === 0 && !existsSync(output_file)) return;
    await mkdir(dirname(output_file), { recursive: true, mode: 0o700 });
    await writeFileAtomic(output_file, pieces.map(({ text }) => text).join(""));
  }

  /** From where an earlier attempt, or an earlier process, left off. */
  follow(job: Pick<Job, "id" | "output_file">): Shipment {
    return new Shipment(this.options, job);
  }
}

/** The log of one job on its way: in order, nothing twice, and later where the store is away. */
export class Shipment {
  private readonly ended = new AbortController();
  private readonly left = new AbortController();
  private readonly shipping: Promise<void>;
  private lines: string[] = [];
  private size = 0;
  private from = 0;
  private timer: NodeJS.Timeout | undefined;
  private sending: Promise<void> = Promise.resolve();
  private sentAt = Number.NEGATIVE_INFINITY;

  constructor(
    private readonly options: ShipperOptions,
    private readonly job: Pick<Job, "id" | "output_file">,
  ) {
    this.shipping = this.ship().catch((error) => {
      if (!this.left.signal.aborted)
        options.trouble(`what ${job.id} said or keeps does not all reach the store`, error);
    });
  }

  /** When all that stands in the log by now has been shipped, and what the job keeps. */
  async end(): Promise<void> {
    this.ended.abort();
    await this.shipping;
  }

  /** The next process goes on with it. */
  leave(): void {
    this.left.abort();
    this.ended.abort();
  }

  private async ship(): Promise<void> {
    this.from = await this.whenReached(() => this.options.outputs.size(this.job.id));
    let at = this.from;
    const file = this.job.output_file;
    for await (const { text, end } of completeLines(file, at, this.ended.signal)) {
      if (this.left.signal.aborted) break;
      this.lines.push(asItStands(text, end - at));
      this.size += end - at;
      at = end;
      if (this.size >= enough) await this.send();
      else this.sendSoon();
    }
    await this.send();
    if (this.left.signal.aborted) return;
    const folder = dirname(file);
    await this.whenReached(() => shipKeptFiles(this.options.files, this.job.id, folder));
  }

  /** The first line at once, those that follow together. */
  private sendSoon(): void {
    const wait = Math.max(0, this.sentAt + atMostEvery - performance.now());
    this.timer ??= setTimeout(() => void this.send().catch(() => undefined), wait);
  }

  private send(): Promise<void> {
    clearTimeout(this.timer);
    this.timer = undefined;
    this.sending = this.sending.then(() => this.append());
    return this.sending;
  }

  private async append(): Promise<void> {
    if (this.lines.length === 0 || this.left.signal.aborted) return;
    const { from, size, lines } = this;
    this.lines = [];
    this.size = 0;
    this.from = from + size;
    this.sentAt = performance.now();
    const { outputs, tell } = this.options;
    await this.whenReached(() => outputs.append(this.job.id, from, lines.join("")));
    tell(this.job.id);
  }

  private async whenReached<T>(work: () => Promise<T>): Promise<T> {
    for (;;) {
      try {
        return await work();
      } catch (error) {
        const isAway = error instanceof UserError && error.code === "state_unavailable";
        if (!isAway || this.left.signal.aborted) throw error;
        await delay(tryAgainAfter, undefined, { signal: this.left.signal });
      }
    }
  }
}

/** Byte for byte as long as in the log; what no text column takes was no message anyway. */
function asItStands(text: string, bytes: number): string {
  const line = text.includes("\0") ? text.replaceAll("\0", " ") : text;
  return Buffer.byteLength(line) + 1 === bytes ? `${line}\n` : `${" ".repeat(bytes - 1)}\n`;
}
