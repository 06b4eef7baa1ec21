import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { kindOf } from "../../docker/workspace-facts.ts";
import { emptyMcpConfig } from "../../docker/workspace-guard.ts";
import { containerPaths } from "../../lib/container-layout.ts";

const [configFileName, ignoreFileName] = ["gitconfig", "gitignore"];

export const gitVariables = { GIT_CONFIG_SYSTEM: `${containerPaths.privateDir}/${configFileName}` };

/**
 * System-wide git configuration of a container: trusts a workspace of another user, sets a name for
 * commits, and excludes placeholders from them. Repository and user configuration override it.
 */
export function writeGitConfig(privateDir: string, agent: string, workspace: string): void {
  const text = [
    "[safe]",
    "\tdirectory = *",
    "[user]",
    `\tname = ${agent}`,
    `\temail = ${agent}@herdctl.invalid`,
    "[core]",
    `\texcludesFile = ${containerPaths.privateDir}/${ignoreFileName}`,
    "",
  ].join("\n");
  writeFileSync(join(privateDir, configFileName), text, { mode: 0o600 });
  writeFileSync(
    join(privateDir, ignoreFileName),
    isMcpPlaceholder(workspace) ? "/.mcp.json\n" : "",
    {
      mode: 0o600,
    },
  );
}

/** Whether `.mcp.json` is a placeholder of this run or of another one in the same folder. */
function isMcpPlaceholder(workspace: string): boolean {
  const file = join(workspace, ".mcp.json");
  return kindOf(file) === "file" && readFileSync(file, "utf8") === emptyMcpConfig;
}
