import { join } from "node:path";
import type { Environment } from "../config/environment.ts";
import type { ResolvedAgent } from "../config/resolve.ts";
import type { StateManager } from "../state/state-manager.ts";
import { claudeVersion, findClaude } from "./claude-binary.ts";
import type { RuntimeProblem } from "./claude-version.ts";
import { inside } from "./container/layout.ts";
import { prepareWorkspace } from "./workspace.ts";
import type { Workspace } from "./workspace-folder.ts";
import { cloneOwner } from "./workspace-owner.ts";

/** Who runs where. */
export interface Site {
  state: Pick<StateManager, "stateDir">;
  agent: ResolvedAgent;
  environment: Environment;
  claudePath?: string;
}

/** What a run finds on this machine, or what it lacks. */
export interface Surroundings {
  workspace: Workspace;
  claude: { kind: "found"; path: string; version: string | null } | RuntimeProblem;
}

/** Whatever its job is: nothing here depends on that. */
export async function lookAround(site: Site, signal: AbortSignal): Promise<Surroundings> {
  const { agent } = site;
  const [workspace, claude] = await Promise.all([
    prepareWorkspace(agent.working_directory, signal, cloneOwner(agent)),
    claudeFor(site),
  ]);
  return { workspace, claude };
}

/** The image has its own, whatever is on this machine. */
async function claudeFor({ agent, environment, claudePath, state }: Site) {
  if (agent.docker.enabled) {
    return { kind: "found" as const, path: inside.claude, version: null };
  }
  const found = findClaude({ claudePath, env: environment });
  if (found.kind === "problem") return found;
  const known = await claudeVersion(found.path, join(state.stateDir, "claude-versions.json"));
  return known.kind === "problem" ? known : { ...found, version: known.version };
}
