import { join } from "node:path";
import { type Environment, listSecretValues } from "@herdctl/config";
import type { FleetEvent } from "@herdctl/protocol";
import { type Logger, pino } from "pino";
import { RotatingFile } from "./rotating-file.ts";

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
  const { type: _, ...fields } = event;
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
