import { lstat, opendir, readlink, stat } from "node:fs/promises";
import { outcomes } from "./outcomes.ts";

export type Workspace = { kind: "ready"; path: string } | WorkspaceProblem;

interface WorkspaceProblem {
  kind: "problem";
  code: "workspace_missing";
  message: string;
  hint: string;
}

/**
 * Does what the agent will do, instead of asking for permissions: the answer to that question is
 * for another user when the program runs with borrowed rights, and a guess on network drives.
 */
export async function checkFolder(path: string): Promise<Workspace> {
  const [read, entered] = await Promise.allSettled([
    opendir(path).then((folder) => void folder.close()),
    stat(`${path}/.`),
  ]);
  if (read.status === "rejected") return explain(path, codeOf(read.reason), "may not be read");
  if (entered.status === "rejected")
    return explain(path, codeOf(entered.reason), "may not be entered");
  return { kind: "ready", path };
}

export function workspaceProblem(
  message: string,
  hint: string = outcomes.workspace_missing.hint,
): WorkspaceProblem {
  return { kind: "problem", code: "workspace_missing", message, hint };
}

export function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : String(error);
}

async function explain(path: string, code: string, refused: string): Promise<WorkspaceProblem> {
  const said: Record<string, () => Promise<string> | string> = {
    ENOENT: () => explainAbsence(path),
    ENOTDIR: () => "is not a folder",
    ELOOP: () => "is a link that leads in a circle",
    EACCES: () => refused,
    EPERM: () => refused,
  };
  const why = (await said[code]?.()) ?? `cannot be used (${code})`;
  const hint =
    code === "EACCES" || code === "EPERM"
      ? "Give the user who runs herdctl the right to read and enter it."
      : "Create the folder, or correct `working_directory` of the agent.";
  return workspaceProblem(`The working directory ${path} ${why}.`, hint);
}

async function explainAbsence(path: string): Promise<string> {
  const isLink = await lstat(path).then(
    (entry) => entry.isSymbolicLink(),
    () => false,
  );
  if (!isLink) return "does not exist";
  return `is a link to ${await readlink(path)}, which does not exist`;
}
