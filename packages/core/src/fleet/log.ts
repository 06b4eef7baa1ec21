import { join } from "node:path";
import { type Logger, pino } from "pino";
import type { Environment } from "../config/environment.ts";
import { secretValues } from "../config/secret-values.ts";
import type { FleetEvent } from "./control.ts";
import { RotatingFile } from "./rotating-file.ts";

export interface FleetLog {
  /** What happened, without the words of prompts, agents and tools. */
  event(event: FleetEvent): void;
  info(text: string, facts?: object): void;
  error(text: string, error: unknown): void;
  close(): void;
}

export interface LogOptions {
  folder: string;
  /** Whose secrets must not be written. */
  environment: Environment;
  maxBytes?: number;
  now?: () => Date;
}

/** `logs/fleet.log`: one JSON object a line, with secrets taken out. */
export function openFleetLog(options: LogOptions): FleetLog {
  const { folder, environment, maxBytes = 10 * 1024 ** 2, now = () => new Date() } = options;
  const file = new RotatingFile(join(folder, "fleet.log"), folder, { maxBytes, keep: 7, now });
  const hide = secretHider(environment);
  const logger = pino(
    { base: { pid: process.pid }, timestamp: () => `,"time":"${now().toISOString()}"` },
    { write: (line: string) => file.write(hide(line)) },
  );
  return {
    event: (event) => logEvent(logger, event),
    info: (text, facts = {}) => logger.info(facts, text),
    error: (text, error) => logger.error({ err: error }, text),
    close: () => file.close(),
  };
}

function logEvent(logger: Logger, event: FleetEvent): void {
  if (event.type === "job:output") return;
  const isBad = event.type === "fleet:problem" || event.type === "agent:paused";
  const write = isBad ? logger.warn.bind(logger) : logger.info.bind(logger);
  write(factsOf(event), event.type);
}

function factsOf(event: Exclude<FleetEvent, { type: "job:output" }>): object {
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
  const { type: _, ...facts } = event;
  return facts;
}

const keyShape = /sk-ant-[\w-]{8,}/g;

function secretHider(environment: Environment): (text: string) => string {
  const secrets = secretValues(environment).map((value) => JSON.stringify(value).slice(1, -1));
  return (text) =>
    secrets
      .reduce((hidden, secret) => hidden.replaceAll(secret, "[hidden]"), text)
      .replace(keyShape, "[hidden]");
}
