import { accessSync, constants } from "node:fs";
import { basename, delimiter, dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import type { Allowance } from "@herdctl/core/light";
import type { Call } from "../command.ts";
import { fleetFileOf } from "../fleet-access.ts";
import { quoted } from "../show/shell-line.ts";

/** The commands and the skill for Claude Code, which the build puts beside the program. */
const plugin = fileURLToPath(new URL("./plugin", import.meta.url));

/** How the server is made known to Claude Code, by one line, and to Claude Desktop. */
export function showInstall(call: Call, allow: readonly Allowance[]): number {
  const { terminal, env } = call;
  const { dim } = terminal.colors;
  const opened = allow.length === 0 ? [] : ["--allow", allow.join(",")];
  const args = ["mcp", "--config", placeOf(fleetFileOf(call)), ...opened];
  const [command = "", ...first] = isOnPath(env) ? ["herdctl"] : wholeProgram();
  const line = ["claude", "mcp", "add", "herdctl", "--", command, ...first, ...args];
  const desktop = desktopConfig(args);
  if (terminal.json) {
    const claude_code = { line: shell(line), argv: line, plugin };
    terminal.printJson({ claude_code, claude_desktop: desktop });
    return 0;
  }
  terminal.note(dim("Claude Code: run this line."));
  terminal.print(shell(line));
  terminal.note(dim("Claude Desktop: put this into claude_desktop_config.json."));
  terminal.print(JSON.stringify(desktop, null, 2));
  terminal.note(dim("Claude Code with /herd commands and a skill as well, in a fleet's folder:"));
  terminal.note(shell(["claude", "--plugin-dir", plugin]));
  return 0;
}

/** The folder, unless the file in it has a name of its own. */
function placeOf(file: string): string {
  return /^herdctl\.ya?ml$/.test(basename(file)) ? dirname(file) : file;
}

/** Claude Desktop knows nothing of the PATH of a shell. */
function desktopConfig(args: string[]) {
  const [command = "", ...first] = wholeProgram();
  return { mcpServers: { herdctl: { command, args: [...first, ...args] } } };
}

function wholeProgram(): string[] {
  return [process.execPath, resolve(process.argv[1] ?? "")];
}

function isOnPath({ PATH = "" }: NodeJS.ProcessEnv): boolean {
  return PATH.split(delimiter).some((folder) => folder !== "" && mayRun(join(folder, "herdctl")));
}

function mayRun(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

function shell(words: string[]): string {
  return words.map(quoted).join(" ");
}
