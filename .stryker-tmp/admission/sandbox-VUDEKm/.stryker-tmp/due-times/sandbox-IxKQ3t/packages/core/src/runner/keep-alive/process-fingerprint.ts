import { createHash } from "node:crypto";
import { statSync } from "node:fs";
import type { Environment } from "@herdctl/config";
import { configDirOf, loginFile } from "../../claude/credential.ts";
import { claudeVisibleConfig, type RunOrder } from "../contract/run-order.ts";
import { credentialOf } from "../execution/open-run.ts";
import { describeStartupFiles } from "./startup-files.ts";

/**
 * Hash of all inputs that `claude` reads at its start. If it is unchanged, an idle process behaves
 * like one that is started now. It includes the date, which claude only reads once.
 */
export function computeProcessFingerprint(
  order: RunOrder,
  environment: Environment,
  now = new Date(),
): string {
  const {
    jobId: _jobId,
    attempt: _attempt,
    prompt: _prompt,
    expandsReferences: _expandsReferences,
    spend: _spend,
    session,
    agent,
    ...stableFields
  } = order;
  const credential = credentialOf(order, environment);
  const configDir = configDirOf(environment);
  const facts = [
    stableFields,
    claudeVisibleConfig(agent),
    session.sessionId,
    environment,
    credential.kind,
    credential.kind === "subscription" && modifiedAtMs(loginFile(configDir)),
    describeStartupFiles(order.cwd, order.configDir),
    now.toDateString(),
  ];
  return createHash("sha256").update(JSON.stringify(facts)).digest("hex");
}

function modifiedAtMs(file: string): number | undefined {
  return statSync(file, { throwIfNoEntry: false })?.mtimeMs;
}
