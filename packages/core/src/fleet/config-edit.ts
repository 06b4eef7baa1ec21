import { access, constants, realpath, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { type EditPreview, type Environment, type LoadedFleet, previewEdit } from "@herdctl/config";
import {
  type ConfigEdit,
  type ConfigEditPreview,
  errorCode,
  ProblemsError,
  UserError,
} from "@herdctl/protocol";
import { writeFileAtomic } from "../lib/atomic-file.ts";
import { previewDueTimes } from "../triggers/schedules/schedule-view.ts";

const contextLines = 3;
const dueTimeCount = 10;

/** What an edit would write, and when the schedules it changes would be due. */
export function viewEdit(
  loaded: LoadedFleet,
  env: Environment,
  edit: ConfigEdit,
): ConfigEditPreview {
  return toView(previewEdit(loaded, env, edit), edit);
}

/** Writes an edit that was previewed, unless the file has changed since then. */
export async function writeEdit(
  loaded: LoadedFleet,
  env: Environment,
  edit: ConfigEdit,
  fingerprint: string,
): Promise<ConfigEditPreview> {
  if (loaded.fleet.store !== undefined) {
    throw new UserError("edit_refused", "the nodes of this fleet have separate files", {
      hint: "Edit the files of all nodes together.",
    });
  }
  const preview = previewEdit(loaded, env, edit);
  if (/* defence: edit-of-current-file */ preview.fingerprint !== fingerprint)
    throw new UserError("file_changed", `${preview.file} has changed`);
  // defence: edit-without-problems
  if (preview.problems.length > 0) throw new ProblemsError("config_invalid", preview.problems);
  await writeConfigFile(preview.file, preview.after);
  return toView(preview, edit);
}

/** A link stays a link, and the file keeps its mode. */
async function writeConfigFile(file: string, text: string): Promise<void> {
  const target = await realpath(file);
  for (const path of [target, dirname(target)]) {
    await access(path, constants.W_OK).catch((error: unknown) => {
      const reason = errorCode(error) ?? "unknown error";
      throw new UserError("edit_refused", `${path} is not writable (${reason})`);
    });
  }
  const { mode } = await stat(target);
  await writeFileAtomic(target, text, mode & 0o777);
}

function toView(
  { file, fingerprint, before, after, problems, loaded }: EditPreview,
  { agent, changes }: ConfigEdit,
): ConfigEditPreview {
  const schedules = new Set(
    changes.flatMap(({ path: [key, name] }) =>
      key === "schedules" && name !== undefined ? [name] : [],
    ),
  );
  const next = [...schedules].flatMap((schedule) => {
    const due_at =
      loaded && previewDueTimes(loaded.fleet, { agent, schedule }, new Date(), dueTimeCount);
    return due_at ? [{ schedule, due_at }] : [];
  });
  return { file, fingerprint, ...changedLines(before, after), problems, next };
}

/** Only the changed part leaves the fleet: the rest of the file may contain secrets. */
function changedLines(
  before: string,
  after: string,
): Pick<ConfigEditPreview, "first_line" | "before" | "after"> {
  const [old, changed] = [before.split("\n"), after.split("\n")];
  const limit = Math.min(old.length, changed.length);
  let start = 0;
  while (start < limit && old[start] === changed[start]) start++;
  let end = 0;
  while (end < limit - start && old.at(-1 - end) === changed.at(-1 - end)) end++;
  const first = Math.max(0, start - contextLines);
  const rest = Math.max(0, end - contextLines);
  return {
    first_line: first + 1,
    before: old.slice(first, old.length - rest),
    after: changed.slice(first, changed.length - rest),
  };
}
