import { existsSync } from "node:fs";
import { mkdir, readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Job } from "@herdctl/protocol";
import { writeFileAtomic } from "../lib/atomic-file.ts";
import { followLines } from "../lib/follow-lines.ts";
import { isStoreUnavailable, retry } from "../lib/retry.ts";
import type { JobFileStore, OutputStore } from "../store/contracts/shared-store.ts";
import { artifactsDir, listArtifacts } from "../store/files/artifacts.ts";

const minSendIntervalMs = 250;
const flushBytes = 64 * 1024;
const retryDelayMs = 1_000;

export interface OutputShipperOptions {
  outputs: OutputStore;
  files: JobFileStore;
  /** More output is in the store. */
  onShipped(jobId: string): void;
  reportError(message: string, cause?: unknown): void;
}

/** Copies the logs of jobs that run here to the store, where other nodes read them. */
export class OutputShipper {
  constructor(private readonly options: OutputShipperOptions) {}

  /**
   * If another node had the job before, its log continues here with the same offsets. Output that
   * that node did not ship is lost, also in a log that an older attempt left here.
   */
  async fetchEarlierOutput({ id, node, output_file }: Job, nodeId: string): Promise<void> {
    if (node === null || node === nodeId) return;
    const chunks = await this.options.outputs.read(id, 0);
    if (chunks.length === 0 && !existsSync(output_file)) return;
    await mkdir(dirname(output_file), { recursive: true, mode: 0o700 });
    await writeFileAtomic(output_file, chunks.map(({ text }) => text).join(""));
  }

  /** Continues where an earlier attempt or process stopped. */
  follow(job: Pick<Job, "id" | "output_file">): Shipment {
    return new Shipment(this.options, job);
  }
}

/** Ships the log of one job: in order, nothing twice, and later if the store is unavailable. */
export class Shipment {
  private readonly endAbort = new AbortController();
  private readonly detachAbort = new AbortController();
  private readonly shipping: Promise<void>;
  private pendingLines: string[] = [];
  private pendingBytes = 0;
  private nextOffset = 0;
  private timer: NodeJS.Timeout | undefined;
  private sendQueue: Promise<void> = Promise.resolve();
  private lastSentAt = Number.NEGATIVE_INFINITY;

  constructor(
    private readonly options: OutputShipperOptions,
    private readonly job: Pick<Job, "id" | "output_file">,
  ) {
    this.shipping = this.shipOutput().catch((error) => {
      if (!this.detachAbort.signal.aborted)
        options.reportError(`Failed to copy all output of ${job.id} to the store`, error);
    });
  }

  /** Resolves when the current log and the kept files of the job have been shipped. */
  async end(): Promise<void> {
    this.endAbort.abort();
    await this.shipping;
  }

  /** The next process continues it. */
  detach(): void {
    this.detachAbort.abort();
    this.endAbort.abort();
  }

  private async shipOutput(): Promise<void> {
    this.nextOffset = await this.retryWhileUnavailable(() =>
      this.options.outputs.size(this.job.id),
    );
    let offset = this.nextOffset;
    const file = this.job.output_file;
    for await (const { text, end } of followLines(file, offset, this.endAbort.signal)) {
      if (this.detachAbort.signal.aborted) break;
      this.pendingLines.push(toStorableLine(text, end - offset));
      this.pendingBytes += end - offset;
      offset = end;
      if (this.pendingBytes >= flushBytes) await this.send();
      else this.scheduleSend();
    }
    await this.send();
    if (this.detachAbort.signal.aborted) return;
    const folder = dirname(file);
    await this.retryWhileUnavailable(() => shipArtifacts(this.options.files, this.job.id, folder));
  }

  /** Sends the first line immediately and collects the following ones. */
  private scheduleSend(): void {
    const wait = Math.max(0, this.lastSentAt + minSendIntervalMs - performance.now());
    this.timer ??= setTimeout(() => void this.send().catch(() => undefined), wait);
  }

  private send(): Promise<void> {
    clearTimeout(this.timer);
    this.timer = undefined;
    this.sendQueue = this.sendQueue.then(() => this.append());
    return this.sendQueue;
  }

  private async append(): Promise<void> {
    if (this.pendingLines.length === 0 || this.detachAbort.signal.aborted) return;
    const { nextOffset, pendingBytes, pendingLines } = this;
    this.pendingLines = [];
    this.pendingBytes = 0;
    this.nextOffset = nextOffset + pendingBytes;
    this.lastSentAt = performance.now();
    const { outputs, onShipped } = this.options;
    await this.retryWhileUnavailable(() =>
      outputs.append(this.job.id, nextOffset, pendingLines.join("")),
    );
    onShipped(this.job.id);
  }

  private retryWhileUnavailable<T>(work: () => Promise<T>): Promise<T> {
    const { signal } = this.detachAbort;
    return retry(work, { shouldRetry: isStoreUnavailable, delayMs: () => retryDelayMs, signal });
  }
}

/**
 * The line with the same length in bytes. Text that a text column cannot store was no message
 * anyway.
 */
function toStorableLine(text: string, byteLength: number): string {
  const line = text.includes("\0") ? text.replaceAll("\0", " ") : text;
  return Buffer.byteLength(line) + 1 === byteLength
    ? `${line}\n`
    : `${" ".repeat(byteLength - 1)}\n`;
}

/** Larger files stay where the job ran. */
const maxShippedFileBytes = 1024 * 1024;

/** Copies the small kept files of a job to the store, where other nodes find them. */
async function shipArtifacts(files: JobFileStore, jobId: string, jobDir: string): Promise<void> {
  for (const { name, bytes } of await listArtifacts(jobDir))
    if (bytes <= maxShippedFileBytes)
      await files.put(jobId, name, await readFile(join(artifactsDir(jobDir), name)));
}
