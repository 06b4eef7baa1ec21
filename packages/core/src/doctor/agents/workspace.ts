import { existsSync } from "node:fs";
import type { ResolvedAgent } from "../../config/resolve.ts";
import { checkFolder, type Workspace } from "../../runner/workspace-folder.ts";
import { maskCredentials } from "../../runner/workspace-repo.ts";
import { type Finding, failed, ok } from "../check.ts";

type Owner = Pick<ResolvedAgent, "name" | "file" | "working_directory">;

export async function checkWorkspace(agent: Owner): Promise<Finding> {
  const { path, clone } = agent.working_directory;
  // A clone is made by the first job.
  if (clone && !existsSync(path)) return judgeWorkspace(agent, undefined);
  return judgeWorkspace(agent, await checkFolder(path));
}

export function judgeWorkspace(agent: Owner, found: Workspace | undefined): Finding {
  const name = "workspace";
  const { path, clone } = agent.working_directory;
  const facts = { agent: agent.name, place: agent.file };
  if (found?.kind === "problem") return { ...failed(name, found.message, found.hint), ...facts };
  if (found) return { ...ok(name, `${path}.`), ...facts };
  const repo = maskCredentials(clone?.repo ?? "");
  return { ...ok(name, `The first job clones ${repo} to ${path}.`), ...facts };
}
