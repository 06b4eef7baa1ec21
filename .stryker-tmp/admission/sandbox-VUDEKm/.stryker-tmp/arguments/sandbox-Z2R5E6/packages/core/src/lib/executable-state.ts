import { accessSync, constants, statSync } from "node:fs";

export type ExecutableState =
  | "runnable"
  | "missing"
  | "out_of_reach"
  | "no_file"
  | "not_executable";

/** Whether a file can be executed, and if not, why. */
export function executableState(path: string): ExecutableState {
  try {
    const stat = statSync(path, { throwIfNoEntry: false });
    if (stat === undefined) return "missing";
    if (!stat.isFile()) return "no_file";
  } catch {
    return "out_of_reach";
  }
  try {
    accessSync(path, constants.X_OK);
    return "runnable";
  } catch {
    return "not_executable";
  }
}
