import { randomUUID } from "node:crypto";
import { join } from "node:path";
import type { ResolvedAgent } from "@herdctl/config";
import {
  type RunnerOptions,
  type RunnerResult,
  readOutput,
  runAgent,
  type SDKMessage,
} from "@herdctl/core/internal";
import type { Job } from "@herdctl/protocol";
import { type ClaudeVersion, claudeBinary } from "./claude-binaries.ts";
import { agentOf, inlineAgent, loadTestFleet } from "./fleet-config.ts";
import type { TestHarness } from "./harness.ts";

export interface JobOptions extends Partial<RunnerOptions> {
  /** The agent's configuration as YAML; it works in the harness workspace. */
  yaml?: string;
  env?: Record<string, string>;
  version?: ClaudeVersion;
}

export function stateDirOf(harness: TestHarness): string {
  return join(harness.home, "state");
}

export function loadAgent(harness: TestHarness, yaml = ""): ResolvedAgent {
  const mode = yaml.includes("permission_mode") ? "" : "permission_mode: bypassPermissions\n";
  const folder = yaml.includes("working_directory")
    ? ""
    : `working_directory: ${harness.workspace}\n`;
  return agentOf(loadTestFleet(inlineAgent(mode + folder + yaml)), "one");
}

/** Runs one job in the harness, by the same code as the fleet. Rejects if there is no job. */
export async function runJob(
  harness: TestHarness,
  options: JobOptions = {},
): Promise<RunnerResult & { job: Job }> {
  const { yaml, env, version = "325", prompt = "hello", ...rest } = options;
  const { job, ...result } = await runAgent({
    agent: loadAgent(harness, yaml),
    prompt,
    jobId: `job-test-${randomUUID().slice(0, 8)}`,
    stateDir: stateDirOf(harness),
    // Fewer retries of the API than by default, to keep tests fast.
    environment: { ...harness.env, CLAUDE_CODE_MAX_RETRIES: "1", ...env },
    claudePath: claudeBinary(version),
    ...rest,
  });
  if (!job) throw result.error;
  return { ...result, job };
}

/** The messages in the job's log on disk. */
export async function readJobMessages(job: Job): Promise<SDKMessage[]> {
  const messages: SDKMessage[] = [];
  for await (const { message } of readOutput(job.output_file)) messages.push(message as SDKMessage);
  return messages;
}
