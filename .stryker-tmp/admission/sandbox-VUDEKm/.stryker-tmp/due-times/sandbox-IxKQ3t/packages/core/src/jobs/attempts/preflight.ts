import { join } from "node:path";
import type { Environment, ResolvedAgent } from "@herdctl/config";
import { claudeVersion, findClaude } from "../../claude/binary.ts";
import type { RuntimeProblem } from "../../claude/version.ts";
import { containerPaths } from "../../lib/container-layout.ts";
import type { StateManager } from "../../store/state-manager.ts";
import { cloneOwner, type Workspace } from "../../workspaces/folder.ts";
import { prepareWorkspace } from "../../workspaces/prepare-workspace.ts";

/** The agent and the machine to check. */
export interface PreflightInput {
  state: Pick<StateManager, "stateDir">;
  agent: ResolvedAgent;
  environment: Environment;
  claudePath?: string;
}

/** The workspace and `claude` of a run, or the problem with them. */
export interface PreflightResult {
  workspace: Workspace;
  claude: { kind: "found"; path: string; version: string | null } | RuntimeProblem;
}

/** Checks everything that does not depend on the job. */
export async function runPreflight(
  input: PreflightInput,
  signal: AbortSignal,
): Promise<PreflightResult> {
  const { agent } = input;
  const [workspace, claude] = await Promise.all([
    prepareWorkspace(agent.working_directory, signal, cloneOwner(agent)),
    resolveClaude(input),
  ]);
  return { workspace, claude };
}

/** The image contains `claude`, whatever is installed on this machine. */
async function resolveClaude({ agent, environment, claudePath, state }: PreflightInput) {
  if (agent.docker.enabled) {
    return { kind: "found" as const, path: containerPaths.claude, version: null };
  }
  const found = findClaude({ claudePath, env: environment });
  if (found.kind === "problem") return found;
  const versionResult = await claudeVersion(
    found.path,
    join(state.stateDir, "claude-versions.json"),
  );
  return versionResult.kind === "problem"
    ? versionResult
    : { ...found, version: versionResult.version };
}
