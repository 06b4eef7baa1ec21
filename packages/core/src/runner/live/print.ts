import { createHash } from "node:crypto";
import { statSync } from "node:fs";
import type { Environment } from "../../config/environment.ts";
import type { ResolvedAgent } from "../../config/resolve.ts";
import { loginFile } from "../login.ts";
import { credentialOf } from "../open-run.ts";
import { configDirOf } from "../prepare-run.ts";
import type { RunOrder } from "../run-order.ts";
import { stampFilesRead } from "./files-read.ts";

/**
 * All that shapes a `claude` from its start on, as one word: where it is the same, a process that
 * is up stands for one that would be started now. The day is part of it: claude is told it once.
 */
export function livePrint(order: RunOrder, environment: Environment, now = new Date()): string {
  const {
    jobId: _,
    attempt: _number,
    prompt: _text,
    expand: _mode,
    spend: _budget,
    session,
    agent,
    ...lasting
  } = order;
  const credential = credentialOf(order, environment);
  const configDir = configDirOf(environment);
  const facts = [
    lasting,
    shapingParts(agent),
    session.sessionId,
    environment,
    credential.kind,
    credential.kind === "subscription" && changedAt(loginFile(configDir)),
    stampFilesRead(order.cwd, order.configDir),
    now.toDateString(),
  ];
  return createHash("sha256").update(JSON.stringify(facts)).digest("hex");
}

/** What is said of an agent but for what its `claude` is never told. */
export function shapingParts({
  schedules: _,
  hooks: _after,
  chat: _rooms,
  ...rest
}: ResolvedAgent) {
  return rest;
}

function changedAt(file: string): number | undefined {
  return statSync(file, { throwIfNoEntry: false })?.mtimeMs;
}
