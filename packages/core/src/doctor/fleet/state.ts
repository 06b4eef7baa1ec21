import { join } from "node:path";
import { type LastBackup, readLastBackup } from "../../backup/last-backup.ts";
import { findDamage } from "../../store/sqlite/open.ts";
import { type Finding, failed, ok } from "../check.ts";

const name = "state";

export interface StateCheckOptions {
  stateDir: string;
  /** The folder of the fleet file. */
  dir: string;
  /** The user accepts an empty state if no backup can be restored. */
  acceptEmptyState: boolean;
}

export function checkState(options: StateCheckOptions): Finding {
  const { stateDir } = options;
  const damage = findDamage(join(stateDir, "herd.db"));
  if (damage === undefined) return ok(name, "The database is intact.");
  return evaluateDamage(damage.message, readLastBackup(stateDir), options);
}

function evaluateDamage(
  damage: string,
  backup: LastBackup | undefined,
  { stateDir, dir, acceptEmptyState }: StateCheckOptions,
): Finding {
  const message = `${damage}.`;
  const kept = "The damaged files are kept beside it.";
  if (backup !== undefined && !backup.encrypted) {
    const hint = `\`herdctl doctor --fix\` restores the backup of ${backup.created_at}, ${backup.file}. ${kept}`;
    const fix = { kind: "restore_state" as const, dir, backup: backup.file };
    return { ...failed(name, message, hint), fix };
  }
  if (acceptEmptyState) {
    const hint = `\`herdctl doctor --fix --empty-state\` moves it aside and continues with an empty state. ${kept}`;
    return { ...failed(name, message, hint), fix: { kind: "empty_state", stateDir } };
  }
  const restore =
    backup === undefined
      ? "There is no backup that this fleet has written. If you have one, run `herdctl restore FILE --replace-state`."
      : `Run \`herdctl restore ${backup.file} --replace-state --password-env NAME\`.`;
  return failed(
    name,
    message,
    `${restore} To continue with an empty state, run \`herdctl doctor --fix --empty-state\`. ${kept}`,
  );
}
