import { accessSync, constants } from "node:fs";
import { basename, delimiter, dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import type { Allowance } from "@herdctl/protocol";
import type { CommandContext } from "../command.ts";
import { resolveFleetFile } from "../find-fleet.ts";
import { quoteShellWord } from "../render/shell-quoting.ts";

/** The Claude Code plugin, which the build copies next to the program. */
const plugin = fileURLToPath(new URL("./plugin", import.meta.url));

/** Prints how to add the MCP server to Claude Code and to Claude Desktop. */
export function printInstallInstructions(
  context: CommandContext,
  allow: readonly Allowance[],
): number {
  const { terminal, env } = context;
  const { dim } = terminal.colors;
  const allowArgs = allow.length === 0 ? [] : ["--allow", allow.join(",")];
  const args = ["mcp", "--config", configArgument(resolveFleetFile(context)), ...allowArgs];
  const [command = "", ...programArgs] = isOnPath(env) ? ["herdctl"] : absoluteCommand();
  const line = ["claude", "mcp", "add", "herdctl", "--", command, ...programArgs, ...args];
  const desktop = desktopConfig(args);
  if (terminal.isJson) {
    const claude_code = { line: joinShellWords(line), argv: line, plugin };
    terminal.printJson({ claude_code, claude_desktop: desktop });
    return 0;
  }
  terminal.printNote(dim("Claude Code: run this command."));
  terminal.print(joinShellWords(line));
  terminal.printNote(dim("Claude Desktop: add this to claude_desktop_config.json."));
  terminal.print(JSON.stringify(desktop, null, 2));
  terminal.printNote(
    dim("Claude Code with the /herd commands and skill: run this in the folder of the fleet."),
  );
  terminal.printNote(joinShellWords(["claude", "--plugin-dir", plugin]));
  return 0;
}

/** The folder, unless the file does not have the default name. */
function configArgument(file: string): string {
  return /^herdctl\.ya?ml$/.test(basename(file)) ? dirname(file) : file;
}

/** Uses absolute paths, because Claude Desktop does not have the PATH of a shell. */
function desktopConfig(args: string[]) {
  const [command = "", ...programArgs] = absoluteCommand();
  return { mcpServers: { herdctl: { command, args: [...programArgs, ...args] } } };
}

function absoluteCommand(): string[] {
  return [process.execPath, resolve(process.argv[1] ?? "")];
}

function isOnPath({ PATH = "" }: NodeJS.ProcessEnv): boolean {
  return PATH.split(delimiter).some(
    (folder) => folder !== "" && isExecutable(join(folder, "herdctl")),
  );
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

function joinShellWords(words: string[]): string {
  return words.map(quoteShellWord).join(" ");
}
