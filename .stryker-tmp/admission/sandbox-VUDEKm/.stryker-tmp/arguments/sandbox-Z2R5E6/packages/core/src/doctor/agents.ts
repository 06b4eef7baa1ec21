import { existsSync } from "node:fs";
import type { Environment, ResolvedAgent } from "@herdctl/config";
import { checkFolder, type Workspace } from "../workspaces/folder.ts";
import { maskCredentials } from "../workspaces/git.ts";
import { type Finding, failed, ok } from "./check.ts";

/** Variables that an agent's configuration refers to but that are not set. */
export function checkVariables(agent: ResolvedAgent, env: Environment): Finding[] {
  const missing = referencedVariables(agent).filter(({ variable }) => !env[variable]?.trim());
  return missing.map(({ variable, purpose }) => ({
    ...failed(
      "variables",
      `${variable} is not set. It must contain ${purpose}.`,
      "Set it in the environment of the fleet, or in `.env` next to the fleet file.",
    ),
    agent: agent.name,
    place: agent.file,
  }));
}

function referencedVariables({ chat, work_source, schedules }: ResolvedAgent) {
  const referenced = (variable: string | undefined, purpose: string) =>
    variable === undefined ? [] : [{ variable, purpose }];
  return [
    ...referenced(chat?.discord?.token_env, "the token of its Discord bot"),
    ...referenced(chat?.slack?.token_env, "the token of its Slack app"),
    ...referenced(chat?.slack?.app_token_env, "the app-level token of its Slack app"),
    ...referenced(work_source?.token_env, `the token for issues of ${work_source?.repo}`),
    ...Object.entries(schedules).flatMap(([name, schedule]) =>
      schedule.type === "webhook"
        ? [schedule.signature.secret_env]
            .flat()
            .flatMap((variable) => referenced(variable, `the secret of the webhook \`${name}\``))
        : [],
    ),
  ];
}

type WorkspaceOwner = Pick<ResolvedAgent, "name" | "file" | "working_directory">;

export async function checkWorkspace(agent: WorkspaceOwner): Promise<Finding> {
  const { path, clone } = agent.working_directory;
  // The first job creates the clone.
  if (clone && !existsSync(path)) return evaluateWorkspace(agent, undefined);
  return evaluateWorkspace(agent, await checkFolder(path));
}

export function evaluateWorkspace(agent: WorkspaceOwner, found: Workspace | undefined): Finding {
  const name = "workspace";
  const { path, clone } = agent.working_directory;
  const facts = { agent: agent.name, place: agent.file };
  if (found?.kind === "problem") return { ...failed(name, found.message, found.hint), ...facts };
  if (found) return { ...ok(name, `${path}.`), ...facts };
  const repo = maskCredentials(clone?.repo ?? "");
  return { ...ok(name, `The first job clones ${repo} to ${path}.`), ...facts };
}
