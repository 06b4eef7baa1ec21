import { realpathSync } from "node:fs";
import { join } from "node:path";
import type { Place } from "../../../state/job.ts";
import { inside } from "../../container/layout.ts";

/** By what a transcript is found: Claude Code files it under the folder that it worked in. */
export interface SessionHome {
  place: Place;
  configDir: string;
  /** The folder on this machine. */
  cwd: string;
}

/** Where Claude Code keeps the transcript of a session, as a path on this machine. */
export function sessionFilePath({ place, configDir, cwd }: SessionHome, sessionId: string): string {
  const seen = place === "docker" ? inside.workspace : realpathSync(cwd);
  return join(configDir, "projects", encodeProjectPath(seen), `${sessionId}.jsonl`);
}

const longestName = 200;

/** The folder name that Claude Code gives a project. Two paths may share one. */
export function encodeProjectPath(realpath: string): string {
  const name = realpath.replace(/[^A-Za-z0-9]/g, "-");
  if (name.length <= longestName) return name;
  return `${name.slice(0, longestName)}-${hash(realpath)}`;
}

function hash(text: string): string {
  let sum = 0;
  for (let unit = 0; unit < text.length; unit += 1) {
    sum = ((sum << 5) - sum + text.charCodeAt(unit)) | 0;
  }
  return Math.abs(sum).toString(36);
}
