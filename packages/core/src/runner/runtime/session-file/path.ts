import { realpathSync } from "node:fs";
import { join } from "node:path";

/** Where Claude Code keeps the transcript of a session that runs in a working directory. */
export function sessionFilePath(configDir: string, cwd: string, sessionId: string): string {
  return join(configDir, "projects", encodeProjectPath(realpathSync(cwd)), `${sessionId}.jsonl`);
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
