import { lstatSync } from "node:fs";
import {
  type CurrentUser,
  currentUser,
  isInSafeDirectory,
  judgeOwnership,
  safeDirectoryVariable,
} from "../../state/ownership.ts";
import { type Finding, failed, ok, warning } from "../check.ts";

export interface OwnedPath {
  path: string;
  /** State and secrets are private; a configuration may be read by others. */
  what: "state" | "secrets" | "configuration";
}

export interface OwnedFacts extends OwnedPath {
  mode: number;
  uid: number;
  gid: number;
}

export function checkPermissions(paths: readonly OwnedPath[]): Finding[] {
  const user = currentUser();
  if (user === undefined) return [];
  const facts = paths.flatMap((one) => {
    const found = lstatSync(one.path, { throwIfNoEntry: false });
    if (found === undefined || found.isSymbolicLink()) return [];
    return [{ ...one, mode: found.mode & 0o777, uid: found.uid, gid: found.gid }];
  });
  return judgePermissions(facts, user);
}

/** A user who can read the state reads what agents saw; one who can write the configuration runs as you. */
export function judgePermissions(facts: readonly OwnedFacts[], user: CurrentUser): Finding[] {
  const wrong = facts.flatMap((one) => judgeOne(one, user) ?? []);
  if (wrong.length > 0) return wrong;
  const state = facts.find(({ what }) => what === "state");
  const message = state ? `${state.path} is for you alone.` : "There is no state here yet.";
  return [ok(name, message)];
}

const name = "permissions";

function judgeOne(facts: OwnedFacts, user: CurrentUser): Finding | undefined {
  const { path, what, mode } = facts;
  const ownership = judgeOwnership({ ...facts, isFolder: what === "state" }, user);
  if (ownership !== undefined && isInSafeDirectory(path, user)) {
    const hint = `Remove it from ${safeDirectoryVariable} if you no longer trust it.`;
    return warning(name, `${path} ${ownership.reason}; ${safeDirectoryVariable} allows it.`, hint);
  }
  if (ownership !== undefined && ownership.mode === undefined)
    return failed(name, `${path} ${ownership.reason}.`, ownership.hint);
  const { unwanted, says, report } = ownership ? writable(ownership.reason) : rules[what];
  if ((mode & unwanted) === 0) return undefined;
  const wanted = mode & ~unwanted & ~rules[what].unwanted;
  const hint = `Run \`chmod ${wanted.toString(8)} ${path}\`, or \`herdctl doctor --fix\`.`;
  const finding = report(name, `${path} (mode ${mode.toString(8)}) ${says}.`, hint);
  return { ...finding, fix: { kind: "chmod", path, mode: wanted } };
}

function writable(says: string) {
  return { unwanted: 0o022, says, report: failed };
}

const rules = {
  state: { unwanted: 0o077, says: "can be entered by other users of this machine", report: failed },
  secrets: { unwanted: 0o077, says: "can be read by other users of this machine", report: warning },
  configuration: { unwanted: 0, says: "", report: failed },
} as const;
