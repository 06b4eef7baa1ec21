import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, isAbsolute, join, resolve } from "node:path";
import { emptyMcpConfig } from "../../docker/workspace-guard.ts";
import type { RunOrder } from "../contract/run-order.ts";

/** Files that claude reads once at its start, in the workspace and each parent folder. */
const ancestorFiles = ["CLAUDE.md", "CLAUDE.local.md"];
/** Entries of each `.claude` folder and of the config folder that claude reads but does not write. */
const claudeFolderEntries = [
  ...["CLAUDE.md", "settings.json", "settings.local.json"],
  ...["rules", "skills", "agents", "commands", "output-styles"],
];
const workspaceFiles = [".mcp.json"];

const maxEntries = 2_000;
const maxImportDepth = 5;

/**
 * The state of every file that `claude` reads at its start, as text. If it is unchanged, a process
 * that was started earlier can be reused.
 */
export function describeStartupFiles(cwd: string, configDir: string): string {
  const states: string[] = [];
  const folders = selfAndAncestors(cwd);
  const claudeFolders = [configDir, ...folders.map((folder) => join(folder, ".claude"))];
  const paths = [
    ...joinAll(ancestorFiles, folders),
    ...joinAll(claudeFolderEntries, claudeFolders),
    ...joinAll(workspaceFiles, [cwd]).filter((file) => !isMcpPlaceholder(file)),
  ];
  for (const path of paths) addFileState(path, states);
  return states.join("\n");
}

/** A placeholder mounted for a container is equivalent to a missing file. */
function isMcpPlaceholder(file: string): boolean {
  return readText(file) === emptyMcpConfig;
}

function joinAll(names: readonly string[], folders: readonly string[]): string[] {
  return folders.flatMap((folder) => names.map((name) => join(folder, name)));
}

function selfAndAncestors(folder: string): string[] {
  const parent = dirname(folder);
  return parent === folder ? [folder] : [folder, ...selfAndAncestors(parent)];
}

function addFileState(path: string, states: string[], depth = 0): void {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (!stats || states.length > maxEntries) return;
  states.push([path, stats.ino, stats.size, stats.mtimeMs].join(" "));
  if (stats.isDirectory()) {
    for (const name of listNames(path)) addFileState(join(path, name), states, depth);
  } else if (path.endsWith(".md") && depth < maxImportDepth) {
    for (const imported of importsOf(path)) addFileState(imported, states, depth + 1);
  }
}

function listNames(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

/** Files that a memory file imports with `@path`. */
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

const gitTimeoutMs = 5_000;

/**
 * The repository state that `claude` reads at its start: branch, commit, changes. Empty for a
 * container, because git on the host would execute configuration that the container can write.
 */
export function readGitStatus({ place, cwd }: Pick<RunOrder, "place" | "cwd">): string {
  if (place === "docker" || !isInRepository(cwd)) return "";
  const safeConfigArgs = ["-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null"];
  // A nested repository has its own, possibly untrusted configuration.
  const args = ["--no-optional-locks", ...safeConfigArgs, "status", "--ignore-submodules=all"];
  try {
    return execFileSync("git", [...args, "--porcelain=v2", "--branch"], {
      cwd,
      encoding: "utf8",
      timeout: gitTimeoutMs,
      maxBuffer: 64 * 1024 * 1024,
      stdio: ["ignore", "pipe", "ignore"],
    });
  } catch {
    // Unknown, so it must never compare as unchanged.
    return `unknown ${Math.random()}`;
  }
}

function isInRepository(folder: string): boolean {
  if (existsSync(join(folder, ".git"))) return true;
  const parent = dirname(folder);
  return parent !== folder && isInRepository(parent);
}
