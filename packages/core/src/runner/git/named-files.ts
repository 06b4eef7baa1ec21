import { existsSync, lstatSync, readdirSync, readFileSync, realpathSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, isAbsolute, join, relative, resolve, sep } from "node:path";
import { kindOf } from "../container/workspace-facts.ts";
import { type ConfigEntry, listConfig } from "./config-list.ts";

/** A path of the workspace that the operator's git would execute or read its configuration from. */
export interface NamedFile {
  path: string;
  /** What it is where it does not exist yet. */
  kind: "file" | "folder";
}

export interface NamedFiles {
  files: NamedFile[];
  warnings: string[];
}

interface Search {
  workspace: string;
  gitDir: string;
  found: Map<string, NamedFile["kind"]>;
  warnings: string[];
}

const maxIncludes = 50;
const maxHookBytes = 64 * 1024;

/**
 * Finds what the operator's own git configuration names in a workspace: folders of hooks, scripts
 * of filters and aliases, further configuration. A container must not be able to change these.
 */
export async function filesNamedByGit(
  workspace: string,
  gitDir: string,
  config: readonly ConfigEntry[],
): Promise<NamedFiles> {
  const search: Search = { workspace, gitDir, found: new Map(), warnings: [] };
  const all = [...config, ...(await includedOnCondition(config))];
  for (const entry of all) {
    if (isInclude(entry)) addPath(search, includePath(entry), "file", entry.key);
    else if (entry.key === "core.hookspath") addHooksPath(search, entry.value);
    else addCommand(search, entry);
  }
  for (const folder of hookFolders(search, all)) addHooks(search, folder);
  const files = [...search.found].map(([path, kind]) => ({ path, kind }));
  return { files, warnings: [...new Set(search.warnings)] };
}

function isInclude({ key }: ConfigEntry): boolean {
  return /^include(if\..*)?\.path$/s.test(key);
}

function includePath({ file, value }: ConfigEntry): string {
  return resolve(file === undefined ? "/" : dirname(file), expanded(value));
}

/** Conditions such as `onbranch:` can hold later, so what they would include counts as well. */
async function includedOnCondition(config: readonly ConfigEntry[]): Promise<ConfigEntry[]> {
  const isRead = new Set(config.map(({ file }) => file));
  const more: ConfigEntry[] = [];
  const queue = config.filter(isInclude).map(includePath);
  for (const path of queue.slice(0, maxIncludes)) {
    if (isRead.has(path) || kindOf(path) !== "file") continue;
    isRead.add(path);
    const entries = await listConfig({}, ["--file", path]).catch(() => []);
    more.push(
      ...entries,
      ...(await includedOnCondition(entries.filter(({ file }) => !isRead.has(file)))),
    );
  }
  return more;
}

/** Hooks of husky call the file of the same name in the folder above. */
function addHooksPath(search: Search, value: string): void {
  const folder = resolve(search.workspace, expanded(value));
  addPath(search, folder, "folder", "core.hooksPath");
  const parent = dirname(folder);
  if (parent !== search.workspace) addPath(search, parent, "folder", "core.hooksPath", "quiet");
}

const executing =
  /(\.(clean|smudge|process|command|textconv|driver|cmd|helper|program|external|update|fsmonitor|editor|pager|difffilter|sshcommand|gitproxy|askpass|packobjectshook|alternaterefscommand|uploadpack|receivepack|templatedir|defaultkeycommand|vcs|proxycommand|path|tocmd|cccmd|smtpserver)$)|^(pager|alias|hook|guitool)\./;

function addCommand(search: Search, { key, value }: ConfigEntry): void {
  const isAlias = key.startsWith("alias.");
  const isCommand = value.startsWith("!") || (!isAlias && executing.test(key));
  const words = value.replace(/^!/, "").split(separators).filter(Boolean);
  for (const [index, word] of words.entries()) {
    const isExplicit = /^(\.{0,2}\/|~\/|\$)/.test(word);
    if (!isCommand && !isExplicit) continue;
    const mayBeMissing = isCommand && (isExplicit || (index === 0 && word.includes("/")));
    const isFolderArgument = words[index - 1] === "cd";
    addWord(search, word, { key, mayBeMissing, isFolderArgument });
  }
}

const separators = /[\s"'`;|&()<>=,{}]+/;

interface WordUse {
  key: string;
  mayBeMissing: boolean;
  isFolderArgument: boolean;
}

function addWord(search: Search, word: string, use: WordUse): void {
  const path = wordPath(search, word);
  if (path === undefined) return;
  const kind = kindOf(path);
  if (kind === "absent") {
    if (use.mayBeMissing) addPath(search, path, "file", use.key);
    return;
  }
  // A bare word that happens to be the name of a folder is no path.
  const isBareFolder = kind === "folder" && !word.includes("/") && !use.isFolderArgument;
  if (!isBareFolder) addPath(search, path, "file", use.key, "quiet");
}

/** `$(git rev-parse --show-toplevel)/x` leaves `/x`: what is not there may lie in the workspace. */
function wordPath({ workspace }: Search, word: string): string | undefined {
  const plain = expanded(word.replace(/^\$\w*\//, "/"));
  if (plain.startsWith("-") || plain.includes("\0") || /^\w+:\/\//.test(plain)) return undefined;
  if (!isAbsolute(plain)) return resolve(workspace, plain);
  const isHere = plain.startsWith(workspace + sep) || existsSync(plain);
  return isHere ? plain : join(workspace, plain);
}

function hookFolders({ workspace, gitDir }: Search, config: readonly ConfigEntry[]): string[] {
  const named = config
    .filter(({ key }) => key === "core.hookspath")
    .map(({ value }) => resolve(workspace, expanded(value)));
  return [...new Set([join(gitDir, "hooks"), ...named])];
}

/** Hooks may be links into the workspace, or call scripts that lie there. */
function addHooks(search: Search, folder: string): void {
  if (!existsSync(folder)) return;
  for (const name of readdirSync(folder)) {
    const hook = join(folder, name);
    if (name.endsWith(".sample") || !existsSync(hook)) continue;
    addPath(search, realpathSync(hook), "file", `hook ${name}`, "quiet");
    const { size } = lstatSync(realpathSync(hook));
    if (kindOf(realpathSync(hook)) !== "file" || size > maxHookBytes) continue;
    for (const word of readFileSync(hook, "utf8").split(separators)) {
      if (!word.includes("/") || word.length > 1_000) continue;
      const path = wordPath(search, word);
      if (path !== undefined && kindOf(path) === "file") {
        addPath(search, path, "file", `hook ${name}`, "quiet");
      }
    }
  }
}

function addPath(
  search: Search,
  path: string,
  kind: NamedFile["kind"],
  key: string,
  ifOutside?: "quiet",
): void {
  const inner = relative(search.workspace, withRealParent(path));
  const isOutside = inner === ".." || inner.startsWith(`..${sep}`) || isAbsolute(inner);
  if (inner === "" || (isOutside && isAbove(path, search.workspace))) {
    if (ifOutside !== "quiet") {
      search.warnings.push(
        `\`${key}\` of the repository names the whole workspace, whose files the container writes: do not run git there before you have looked at them`,
      );
    }
    return;
  }
  // Below `.git` nothing can be written anyway.
  if (isOutside || inner === ".git" || inner.startsWith(`.git${sep}`)) return;
  search.found.set(join(search.workspace, inner), kind);
}

/** A path may lead into the workspace by a link outside of it. */
function withRealParent(path: string): string {
  const parent = dirname(path);
  return existsSync(parent) ? join(realpathSync(parent), path.slice(parent.length)) : path;
}

function isAbove(path: string, folder: string): boolean {
  return folder.startsWith(path.endsWith(sep) ? path : path + sep);
}

function expanded(path: string): string {
  if (path === "~" || path.startsWith("~/")) return join(homedir(), path.slice(1));
  return path.replace(/^:\(optional\)/, "");
}
