import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { inside } from "./layout.ts";
import { kindOf } from "./workspace-facts.ts";
import { noServers } from "./workspace-guard.ts";

const [config, ignored] = ["gitconfig", "gitignore"];

export const gitVariables = { GIT_CONFIG_SYSTEM: `${inside.privateDir}/${config}` };

/**
 * For all of a container's git: the workspace may belong to another user, a commit needs a name,
 * and a placeholder is not to be committed. As the system's configuration it gives way to the
 * repository's own and to the agent's.
 */
export function writeGitConfig(privateDir: string, agent: string, workspace: string): void {
  const text = [
    "[safe]",
    "\tdirectory = *",
    "[user]",
    `\tname = ${agent}`,
    `\temail = ${agent}@herdctl.invalid`,
    "[core]",
    `\texcludesFile = ${inside.privateDir}/${ignored}`,
    "",
  ].join("\n");
  writeFileSync(join(privateDir, config), text, { mode: 0o600 });
  writeFileSync(join(privateDir, ignored), isPlaceholder(workspace) ? "/.mcp.json\n" : "", {
    mode: 0o600,
  });
}

/** Of this run, or of another one in the same folder. */
function isPlaceholder(workspace: string): boolean {
  const file = join(workspace, ".mcp.json");
  return kindOf(file) === "file" && readFileSync(file, "utf8") === noServers;
}
