import { realpathSync } from "node:fs";
import { join } from "node:path";
import type { SessionHomeKind } from "@herdctl/protocol";
import { containerPaths } from "../../lib/container-layout.ts";

/** Where to find a transcript: Claude Code stores it by the working directory. */
export interface SessionHome {
  place: SessionHomeKind;
  configDir: string;
  /** The folder on the host. */
  cwd: string;
}

export function sessionFilePath({ place, configDir, cwd }: SessionHome, sessionId: string): string {
  const projectPath = place === "docker" ? containerPaths.workspace : realpathSync(cwd);
  return join(configDir, "projects", encodeProjectPath(projectPath), `${sessionId}.jsonl`);
}

const maxNameLength = 200;

/** Claude Code's folder name for a project. Different paths can have the same name. */
export function encodeProjectPath(realpath: string): string {
  const name = realpath.replace(/[^A-Za-z0-9]/g, "-");
  if (name.length <= maxNameLength) return name;
  return `${name.slice(0, maxNameLength)}-${hash(realpath)}`;
}

function hash(text: string): string {
  let sum = 0;
  for (let unit = 0; unit < text.length; unit += 1) {
    sum = ((sum << 5) - sum + text.charCodeAt(unit)) | 0;
  }
  return Math.abs(sum).toString(36);
}
