import { closeSync, fstatSync, openSync, renameSync, writeSync } from "node:fs";
import { join } from "node:path";
import { type Environment, listSecretValues } from "@herdctl/config";
import type { FleetEvent } from "@herdctl/protocol";
import { type Logger, pino } from "pino";
import { ensurePrivateDir } from "../store/files/job-folder.ts";

export interface FleetLog {
  /** Logs an event without the text of prompts, agents and tools. */
  event(event: FleetEvent): void;
  info(text: string, fields?: object): void;
  error(text: string, error: unknown): void;
  close(): void;
}

export interface FleetLogOptions {
  folder: string;
  /** The environment whose secrets must not be written. */
  environment: Environment;
  maxBytes?: number;
  now?: () => Date;
}

/** `logs/fleet.log`: one JSON object per line, with secrets removed. */
export function openFleetLog(options: FleetLogOptions): FleetLog {
  const { folder, environment, maxBytes = 10 * 1024 ** 2, now = () => new Date() } = options;
  const file = new RotatingFile(join(folder, "fleet.log"), folder, { maxBytes, maxFiles: 7, now });
  const redact = createRedactor(environment);
  const logger = pino(
    { base: { pid: process.pid }, timestamp: () => `,"time":"${now().toISOString()}"` },
    { write: (line: string) => /* defence: log-redaction */ file.write(redact(line)) },
  );
  return {
    event: (event) => logEvent(logger, event),
    info: (text, fields = {}) => logger.info(fields, text),
    error: (text, error) => logger.error({ err: error }, text),
    close: () => file.close(),
  };
}

function logEvent(logger: Logger, event: FleetEvent): void {
  if (event.type === "job:output") return;
  const isWarning = event.type === "fleet:problem" || event.type === "agent:paused";
  const write = isWarning ? logger.warn.bind(logger) : logger.info.bind(logger);
  write(logFieldsOf(event), event.type);
}

function logFieldsOf(event: Exclude<FleetEvent, { type: "job:output" }>): object {
  if ("job" in event) {
    const { id, agent, status, outcome, attempts, cost_usd, duration_seconds } = event.job;
    return { job: id, agent, status, outcome: outcome?.code, attempts, cost_usd, duration_seconds };
  }
  if ("approval" in event) {
    const { id, kind, job_id, tool, answer, answered_by } = event.approval;
    return { approval: id, kind, job: job_id, tool, answer, answered_by };
  }
  if ("hook" in event) {
    const { id, job_id, type, status, attempts, message } = event.hook;
    return { hook: id, job: job_id, type, status, attempts, message };
  }
  const { type: _type, at: _at, ...fields } = event;
  return fields;
}

const apiKeyPattern = /sk-ant-[\w-]{8,}/g;

function createRedactor(environment: Environment): (text: string) => string {
  const secrets = listSecretValues(environment).map((value) => JSON.stringify(value).slice(1, -1));
  return (text) =>
    secrets
      .reduce((redacted, secret) => redacted.replaceAll(secret, "[hidden]"), text)
      .replace(apiKeyPattern, "[hidden]");
}

interface RotatingFileOptions {
  maxBytes: number;
  /** Number of old files to keep besides the current one. */
  maxFiles: number;
  now: () => Date;
}

/**
 * A log file. When it is full, and on a new day, it is renamed to `<path>.1` and so on. Lines are
 * written synchronously, so that the last lines before a crash are kept. A line that cannot be
 * written is dropped: a full disk must not stop the process that logs.
 */
class RotatingFile {
  private handle: number | undefined;
  private size = 0;
  private openedDay = "";

  constructor(
    private readonly path: string,
    private readonly folder: string,
    private readonly options: RotatingFileOptions,
  ) {}

  write(line: string): void {
    try {
      const handle = this.handleFor(Buffer.byteLength(line));
      this.size += writeSync(handle, line);
    } catch {
      this.close();
    }
  }

  close(): void {
    if (this.handle !== undefined) closeSync(this.handle);
    this.handle = undefined;
  }

  private handleFor(addedBytes: number): number {
    const handle = this.handle ?? this.open();
    const isFull = this.size > 0 && this.size + addedBytes > this.options.maxBytes;
    if (!isFull && this.openedDay === dayOf(this.options.now())) return handle;
    this.close();
    this.rotate();
    return this.open();
  }

  private open(): number {
    ensurePrivateDir(this.folder);
    const handle = openSync(this.path, "a", 0o600);
    const { size, mtime } = fstatSync(handle);
    this.handle = handle;
    this.size = size;
    this.openedDay = dayOf(size === 0 ? this.options.now() : mtime);
    return handle;
  }

  private rotate(): void {
    for (let number = this.options.maxFiles - 1; number >= 1; number -= 1) {
      renameIfExists(`${this.path}.${number}`, `${this.path}.${number + 1}`);
    }
    renameIfExists(this.path, `${this.path}.1`);
  }
}

function dayOf(date: Date): string {
  return date.toDateString();
}

function renameIfExists(from: string, to: string): void {
  try {
    renameSync(from, to);
  } catch {
    // It does not exist yet.
  }
}
