import { createHash } from "node:crypto";
import { type ConfigEdit, type Problem, ProblemsError, UserError } from "@herdctl/protocol";
import type { Environment } from "../environment.ts";
import { type LoadedFleet, loadFleet } from "../load-fleet.ts";
import { readText } from "../yaml/read-document.ts";
import { checkEdit } from "./check-changes.ts";
import { editDocument } from "./edit-document.ts";

export interface EditPreview {
  file: string;
  /** Hash of the file that was read. */
  fingerprint: string;
  before: string;
  after: string;
  problems: Problem[];
  /** The fleet as it would be; undefined if there are problems. */
  loaded: LoadedFleet | undefined;
}

/** What an edit would write, and what the loader says about it. Nothing is written. */
export function previewEdit(
  { fleet }: Pick<LoadedFleet, "fleet">,
  env: Environment,
  { agent, create: isNew = false, changes }: ConfigEdit,
): EditPreview {
  const found = fleet.agents.find(({ name }) => name === agent);
  if (!isNew && !found) throw new UserError("agent_not_found", `there is no agent \`${agent}\``);
  const file = isNew ? fleet.file : (found?.file ?? fleet.file);
  const before = readText(file);
  const ownName = isNew ? agent : (agent.split(".").at(-1) ?? agent);
  const after = editDocument(before, { agent: ownName, isNew, changes });
  const facts = { file, fingerprint: fingerprintOf(before), before, after };
  const forbidden = checkEdit(file, { agent, changes });
  if (forbidden.length > 0) return { ...facts, problems: forbidden, loaded: undefined };
  try {
    const loaded = loadFleet(fleet.file, env, new Map([[file, after]]));
    return { ...facts, problems: [], loaded };
  } catch (error) {
    if (!(error instanceof ProblemsError)) throw error;
    return { ...facts, problems: [...error.problems], loaded: undefined };
  }
}

function fingerprintOf(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
