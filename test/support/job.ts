import { randomUUID } from "node:crypto";
import { join } from "node:path";
import {
  type Job,
  type ResolvedAgent,
  type RunnerOptions,
  type RunnerResult,
  readOutput,
  runAgent,
  type SDKMessage,
} from "@herdctl/core";
import { type ClaudeVersion, claudeBinary } from "./claude.ts";
import { agentOf, inlineAgent, load } from "./fleet.ts";
import type { Stage } from "./stage.ts";

export interface JobOptions extends Partial<RunnerOptions> {
  /** The agent's configuration, as YAML; it works in the stage's workspace. */
  yaml?: string;
  env?: Record<string, string>;
  version?: ClaudeVersion;
}

export function stateDirOf(on: Stage): string {
  return join(on.home, "state");
}

export function agentFor(on: Stage, yaml = ""): ResolvedAgent {
  const mode = yaml.includes("permission_mode") ? "" : "permission_mode: bypassPermissions\n";
  const folder = yaml.includes("working_directory") ? "" : `working_directory: ${on.workspace}\n`;
  return agentOf(load(inlineAgent(mode + folder + yaml)), "one");
}

/** Runs one job on the stage, by the same road as the fleet. */
export function runJob(on: Stage, options: JobOptions = {}): Promise<RunnerResult> {
  const { yaml, env, version = "325", prompt = "hello", ...rest } = options;
  return runAgent({
    agent: agentFor(on, yaml),
    prompt,
    jobId: `job-test-${randomUUID().slice(0, 8)}`,
    stateDir: stateDirOf(on),
    // Two tries instead of ten: the tests want the outcome, not the patience.
    environment: { ...on.env, CLAUDE_CODE_MAX_RETRIES: "1", ...env },
    claudePath: claudeBinary(version),
    ...rest,
  });
}

/** The messages in the job's log, as they lie on disk. */
export async function logOf(job: Job): Promise<SDKMessage[]> {
  const messages: SDKMessage[] = [];
  for await (const { message } of readOutput(job.output_file)) messages.push(message as SDKMessage);
  return messages;
}
