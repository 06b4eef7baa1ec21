import { lstatSync } from "node:fs";
import { type Finding, failed, ok, warning } from "../check.ts";

export interface OwnedPath {
  path: string;
  /** State and secrets are for one user's eyes; a configuration is for one user's hands. */
  what: "state" | "secrets" | "configuration";
}

export interface OwnedFacts extends OwnedPath {
  mode: number;
  uid: number;
}

export function checkPermissions(paths: readonly OwnedPath[]): Finding[] {
  const facts = paths.flatMap((one) => {
    const found = lstatSync(one.path, { throwIfNoEntry: false });
    if (found === undefined || found.isSymbolicLink()) return [];
    return [{ ...one, mode: found.mode & 0o777, uid: found.uid }];
  });
  return judgePermissions(facts, process.getuid?.() ?? 0);
}

/** Whoever may read the state reads what agents saw; whoever may write the configuration runs as you. */
export function judgePermissions(facts: readonly OwnedFacts[], me: number): Finding[] {
  const wrong = facts.flatMap((one) => judgeOne(one, me) ?? []);
  if (wrong.length > 0) return wrong;
  const state = facts.find(({ what }) => what === "state");
  const message = state ? `${state.path} is for you alone.` : "There is no state here yet.";
  return [ok(name, message)];
}

const name = "permissions";
const root = 0;

function judgeOne({ path, what, mode, uid }: OwnedFacts, me: number): Finding | undefined {
  if (me !== root && uid !== me && what === "state") {
    const message = `${path} belongs to another user (${uid}).`;
    return failed(name, message, `Run herdctl as that user, or \`chown -R $USER ${path}\`.`);
  }
  const { unwanted, says, report } = rules[what];
  if ((mode & unwanted) === 0) return undefined;
  const wanted = mode & ~unwanted;
  const hint = `Run \`chmod ${wanted.toString(8)} ${path}\`, or \`herdctl doctor --fix\`.`;
  const finding = report(name, `${path} (mode ${mode.toString(8)}) ${says}.`, hint);
  return { ...finding, fix: { kind: "chmod", path, mode: wanted } };
}

const rules = {
  state: { unwanted: 0o077, says: "can be entered by other users of this machine", report: failed },
  secrets: { unwanted: 0o077, says: "can be read by other users of this machine", report: warning },
  configuration: {
    unwanted: 0o002,
    says: "can be changed by everybody on this machine",
    report: failed,
  },
} as const;
