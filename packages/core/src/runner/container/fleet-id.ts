import { randomBytes } from "node:crypto";
import { linkSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ensureFolder } from "../../state/folder.ts";
import { fingerprint } from "./labels.ts";

/**
 * What names this fleet on an engine that others use too. A path alone would be the same for two
 * fleets in two containers, a number alone for a fleet and its copy.
 */
export function fleetIdOf(stateDir: string): string {
  const file = join(ensureFolder(stateDir), "fleet-id");
  return fingerprint(`${read(file) ?? make(file)} ${realpathSync(stateDir)}`);
}

function read(file: string): string | undefined {
  try {
    return readFileSync(file, "utf8").trim() || undefined;
  } catch {
    return undefined;
  }
}

/** Several processes may want it first; the file of one of them stays. */
function make(file: string): string {
  const id = randomBytes(16).toString("hex");
  const draft = `${file}.${id}`;
  try {
    writeFileSync(draft, `${id}\n`, { mode: 0o600 });
    linkSync(draft, file);
    return id;
  } catch {
    return read(file) ?? id;
  } finally {
    rmSync(draft, { force: true });
  }
}
