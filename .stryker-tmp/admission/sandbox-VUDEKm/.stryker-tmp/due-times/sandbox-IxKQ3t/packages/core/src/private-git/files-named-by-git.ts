import { existsSync, lstatSync, readdirSync, readFileSync, realpathSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, isAbsolute, join, relative, resolve, sep } from "node:path";
import { kindOf } from "../docker/workspace-facts.ts";
import { type ConfigEntry, listConfig } from "./safe-git.ts";

/** A path in the workspace that the operator's git would execute or read as configuration. */
export interface NamedFile {
  path: string;
  /** What to create if it does not exist. */
  kind: "file" | "folder";
}

export interface NamedFiles {
  files: NamedFile[];
  warnings: string[];
}

interface NamedFileSearch {
  workspace: string;
  gitDir: string;
  found: Map<string, NamedFile["kind"]>;
  warnings: string[];
}

const maxIncludes = 50;
const maxHookBytes = 64 * 1024;

/**
 * Finds paths in a workspace that the operator's git configuration refers to: hook folders, scripts of
 * filters and aliases, included configuration. A container must not be able to change them.
 */
export async function filesNamedByGit(
  workspace: string,
  gitDir: string,
  config: readonly ConfigEntry[],
): Promise<NamedFiles> {
  const search: NamedFileSearch = { workspace, gitDir, found: new Map(), warnings: [] };
  const allEntries = [...config, ...(await readConditionalIncludes(config))];
  for (const entry of allEntries) {
    if (isInclude(entry)) addPath(search, includePath(entry), "file", entry.key);
    else if (entry.key === "core.hookspath") addHooksPath(search, entry.value);
    else addCommand(search, entry);
  }
  for (const folder of hookFolders(search, allEntries)) addHookScripts(search, folder);
  const files = [...search.found].map(([path, kind]) => ({ path, kind }));
  return { files, warnings: [...new Set(search.warnings)] };
}

function isInclude({ key }: ConfigEntry): boolean {
  return /^include(if\..*)?\.path$/s.test(key);
}

function includePath({ file, value }: ConfigEntry): string {
  return resolve(file === undefined ? "/" : dirname(file), expandHome(value));
}

/** Conditions such as `onbranch:` can become true later, so their includes count as well. */
async function readConditionalIncludes(config: readonly ConfigEntry[]): Promise<ConfigEntry[]> {
  const alreadyRead = new Set(config.map(({ file }) => file));
  const includedEntries: ConfigEntry[] = [];
  const queue = config.filter(isInclude).map(includePath);
  for (const path of queue.slice(0, maxIncludes)) {
    if (alreadyRead.has(path) || kindOf(path) !== "file") continue;
    alreadyRead.add(path);
    const entries = await listConfig({}, ["--file", path]).catch(() => []);
    includedEntries.push(
      ...entries,
      ...(await readConditionalIncludes(entries.filter(({ file }) => !alreadyRead.has(file)))),
    );
  }
  return includedEntries;
}

/** Husky's hooks call the file with the same name in the parent folder. */
function addHooksPath(search: NamedFileSearch, value: string): void {
  const folder = resolve(search.workspace, expandHome(value));
  addPath(search, folder, "folder", "core.hooksPath");
  const parent = dirname(folder);
  // defence: husky-files-read-only
  if (parent !== search.workspace) addPath(search, parent, "folder", "core.hooksPath", "quiet");
}

const commandKeys =
  /(\.(clean|smudge|process|command|textconv|driver|cmd|helper|program|external|update|fsmonitor|editor|pager|difffilter|sshcommand|gitproxy|askpass|packobjectshook|alternaterefscommand|uploadpack|receivepack|templatedir|defaultkeycommand|vcs|proxycommand|path|tocmd|cccmd|smtpserver)$)|^(pager|alias|hook|guitool)\./;

function addCommand(search: NamedFileSearch, { key, value }: ConfigEntry): void {
  const isAlias = key.startsWith("alias.");
  const isCommand = value.startsWith("!") || (!isAlias && commandKeys.test(key));
  const words = value.replace(/^!/, "").split(wordSeparators).filter(Boolean);
  for (const [index, word] of words.entries()) {
    const isExplicit = /^(\.{0,2}\/|~\/|\$)/.test(word);
    if (!isCommand && !isExplicit) continue;
    const mayBeMissing = isCommand && (isExplicit || (index === 0 && word.includes("/")));
    const isFolderArgument = words[index - 1] === "cd";
    addWord(search, word, { key, mayBeMissing, isFolderArgument });
  }
}

const wordSeparators = /[\s"'`;|&()<>=,{}]+/;

interface WordUse {
  key: string;
  mayBeMissing: boolean;
  isFolderArgument: boolean;
}

function addWord(search: NamedFileSearch, word: string, use: WordUse): void {
  const path = resolveWord(search, word);
  if (path === undefined) return;
  const kind = kindOf(path);
  if (kind === "absent") {
    if (use.mayBeMissing) addPath(search, path, "file", use.key);
    return;
  }
  // A bare word that is also the name of a folder is not a path.
  const isBareFolder = kind === "folder" && !word.includes("/") && !use.isFolderArgument;
  if (!isBareFolder) addPath(search, path, "file", use.key, "quiet");
}

/** `$(git rev-parse --show-toplevel)/x` leaves `/x`: a missing absolute path may be in the workspace. */
function resolveWord({ workspace }: NamedFileSearch, word: string): string | undefined {
  const expandedWord = expandHome(word.replace(/^\$\w*\//, "/"));
  if (expandedWord.startsWith("-") || expandedWord.includes("\0") || /^\w+:\/\//.test(expandedWord))
    return undefined;
  if (!isAbsolute(expandedWord)) return resolve(workspace, expandedWord);
  const isAbsolutePath = expandedWord.startsWith(workspace + sep) || existsSync(expandedWord);
  return isAbsolutePath ? expandedWord : join(workspace, expandedWord);
}

function hookFolders(
  { workspace, gitDir }: NamedFileSearch,
  config: readonly ConfigEntry[],
): string[] {
  const configuredFolders = config
    .filter(({ key }) => key === "core.hookspath")
    .map(({ value }) => resolve(workspace, expandHome(value)));
  return [...new Set([join(gitDir, "hooks"), ...configuredFolders])];
}

/** Hooks may be symbolic links into the workspace, or call scripts in it. */
function addHookScripts(search: NamedFileSearch, folder: string): void {
  if (!existsSync(folder)) return;
  for (const name of readdirSync(folder)) {
    const hook = join(folder, name);
    if (name.endsWith(".sample") || !existsSync(hook)) continue;
    addPath(search, realpathSync(hook), "file", `hook ${name}`, "quiet");
    const { size } = lstatSync(realpathSync(hook));
    if (kindOf(realpathSync(hook)) !== "file" || size > maxHookBytes) continue;
    for (const word of readFileSync(hook, "utf8").split(wordSeparators)) {
      if (!word.includes("/") || word.length > 1_000) continue;
      const path = resolveWord(search, word);
      if (path !== undefined && kindOf(path) === "file") {
        addPath(search, path, "file", `hook ${name}`, "quiet");
      }
    }
  }
}

function addPath(
  search: NamedFileSearch,
  path: string,
  kind: NamedFile["kind"],
  key: string,
  ifOutside?: "quiet",
): void {
  const relativePath = relative(search.workspace, withRealParent(path));
  const isOutside =
    relativePath === ".." || relativePath.startsWith(`..${sep}`) || isAbsolute(relativePath);
  if (relativePath === "" || (isOutside && isAncestor(path, search.workspace))) {
    if (ifOutside !== "quiet") {
      search.warnings.push(
        `\`${key}\` of the repository refers to the whole workspace, in which the container can write: check the files before you run git there`,
      );
    }
    return;
  }
  // The container cannot write to the host's `.git` anyway.
  if (isOutside || relativePath === ".git" || relativePath.startsWith(`.git${sep}`)) return;
  search.found.set(join(search.workspace, relativePath), kind);
}

/** Resolves symbolic links in the parent, which may point into the workspace. */
function withRealParent(path: string): string {
  const parent = dirname(path);
  return existsSync(parent) ? join(realpathSync(parent), path.slice(parent.length)) : path;
}

function isAncestor(path: string, folder: string): boolean {
  return folder.startsWith(path.endsWith(sep) ? path : path + sep);
}

function expandHome(path: string): string {
  if (path === "~" || path.startsWith("~/")) return join(homedir(), path.slice(1));
  return path.replace(/^:\(optional\)/, "");
}
