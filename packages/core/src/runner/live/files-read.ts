import { readdirSync, readFileSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, isAbsolute, join, resolve } from "node:path";
import { noServers } from "../container/workspace-guard.ts";

/** What claude reads once, at its start, in each folder from the workspace upwards. */
const inEachFolder = ["CLAUDE.md", "CLAUDE.local.md"];
/** And in each folder `.claude` there, and in its own. Beside these it keeps what it writes itself. */
const inClaudeFolder = [
  ...["CLAUDE.md", "settings.json", "settings.local.json"],
  ...["rules", "skills", "agents", "commands", "output-styles"],
];
const inWorkspace = [".mcp.json"];

const mostEntries = 2_000;
const deepestImport = 5;

/**
 * The state of every file that a `claude` holds from its start on, as one text: whoever finds it
 * unchanged may go on with a process that was started before.
 */
export function stampFilesRead(cwd: string, configDir: string): string {
  const stamps: string[] = [];
  const folders = foldersUpFrom(cwd);
  const own = [configDir, ...folders.map((folder) => join(folder, ".claude"))];
  const paths = [
    ...named(inEachFolder, folders),
    ...named(inClaudeFolder, own),
    ...named(inWorkspace, [cwd]).filter((file) => !isPlaceholder(file)),
  ];
  for (const path of paths) stamp(path, stamps);
  return stamps.join("\n");
}

/** One that stands there while a container has the folder says what none says. */
function isPlaceholder(file: string): boolean {
  return readText(file) === noServers;
}

function named(names: readonly string[], folders: readonly string[]): string[] {
  return folders.flatMap((folder) => names.map((name) => join(folder, name)));
}

function foldersUpFrom(folder: string): string[] {
  const above = dirname(folder);
  return above === folder ? [folder] : [folder, ...foldersUpFrom(above)];
}

function stamp(path: string, stamps: string[], depth = 0): void {
  const found = statSync(path, { throwIfNoEntry: false });
  if (!found || stamps.length > mostEntries) return;
  stamps.push([path, found.ino, found.size, found.mtimeMs].join(" "));
  if (found.isDirectory()) {
    for (const name of namesIn(path)) stamp(join(path, name), stamps, depth);
  } else if (path.endsWith(".md") && depth < deepestImport) {
    for (const imported of importsOf(path)) stamp(imported, stamps, depth + 1);
  }
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

/** `@path` in a memory file reads that file, too. */
function importsOf(file: string): string[] {
  const text = readText(file);
  return [...text.matchAll(/(?:^|\s)@([^\s`]+)/g)].map(([, name = ""]) => {
    if (name.startsWith("~/")) return join(homedir(), name.slice(2));
    return isAbsolute(name) ? name : resolve(dirname(file), name);
  });
}

function readText(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}
