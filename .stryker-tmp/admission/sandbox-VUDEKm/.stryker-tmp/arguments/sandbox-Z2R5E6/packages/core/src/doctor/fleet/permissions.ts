import { lstatSync } from "node:fs";
import {
  type CurrentUser,
  checkPathOwnership,
  isInSafeDirectory,
  readCurrentUser,
  safeDirectoryVariable,
} from "@herdctl/protocol";
import { type Finding, failed, ok, warning } from "../check.ts";

export interface OwnedPath {
  path: string;
  /** State and secrets are private; a configuration may be read by others. */
  kind: "state" | "secrets" | "configuration";
}

export interface OwnedPathFacts extends OwnedPath {
  mode: number;
  uid: number;
  gid: number;
}

export function checkPermissions(paths: readonly OwnedPath[]): Finding[] {
  const user = readCurrentUser();
  if (user === undefined) return [];
  const facts = paths.flatMap((ownedPath) => {
    const stats = lstatSync(ownedPath.path, { throwIfNoEntry: false });
    if (stats === undefined || stats.isSymbolicLink()) return [];
    return [{ ...ownedPath, mode: stats.mode & 0o777, uid: stats.uid, gid: stats.gid }];
  });
  return evaluatePermissions(facts, user);
}

/** A user who can read the state can read agents' output; one who can write the configuration can act as you. */
export function evaluatePermissions(
  facts: readonly OwnedPathFacts[],
  user: CurrentUser,
): Finding[] {
  const problems = facts.flatMap((pathFacts) => evaluatePath(pathFacts, user) ?? []);
  if (problems.length > 0) return problems;
  const state = facts.find(({ kind }) => kind === "state");
  const message = state
    ? `Only you have access to ${state.path}.`
    : "There is no state directory yet.";
  return [ok(name, message)];
}

const name = "permissions";

function evaluatePath(facts: OwnedPathFacts, user: CurrentUser): Finding | undefined {
  const { path, kind, mode } = facts;
  const ownership = checkPathOwnership({ ...facts, isFolder: kind === "state" }, user);
  if (ownership !== undefined && isInSafeDirectory(path, user)) {
    const hint = `Remove it from ${safeDirectoryVariable} if you no longer trust it.`;
    return warning(name, `${path} ${ownership.reason}; ${safeDirectoryVariable} allows it.`, hint);
  }
  if (ownership !== undefined && ownership.mode === undefined)
    return failed(name, `${path} ${ownership.reason}.`, ownership.hint);
  const { forbiddenBits, problem, makeFinding } = ownership
    ? writableRule(ownership.reason)
    : rules[kind];
  if ((mode & forbiddenBits) === 0) return undefined;
  const allowedMode = mode & ~forbiddenBits & ~rules[kind].forbiddenBits;
  const hint = `Run \`chmod ${allowedMode.toString(8)} ${path}\`, or \`herdctl doctor --fix\`.`;
  const finding = makeFinding(name, `${path} (mode ${mode.toString(8)}) ${problem}.`, hint);
  return { ...finding, fix: { kind: "chmod", path, mode: allowedMode } };
}

function writableRule(problem: string) {
  return { forbiddenBits: 0o022, problem, makeFinding: failed };
}

const rules = {
  state: {
    forbiddenBits: 0o077,
    problem: "can be entered by other users of this machine",
    makeFinding: failed,
  },
  secrets: {
    forbiddenBits: 0o077,
    problem: "can be read by other users of this machine",
    makeFinding: warning,
  },
  configuration: { forbiddenBits: 0, problem: "", makeFinding: failed },
} as const;
