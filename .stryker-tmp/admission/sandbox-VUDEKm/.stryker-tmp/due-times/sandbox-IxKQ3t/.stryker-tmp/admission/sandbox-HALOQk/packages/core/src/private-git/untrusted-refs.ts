import { join } from "node:path";
import { listUntrusted, readUntrusted } from "./untrusted-file.ts";

/** The usable contents of a git directory that a container has written. */
export interface UntrustedRefs {
  head: string | undefined;
  /** The branch of HEAD; null if HEAD is detached. */
  headRef: string | null;
  /** Branches, tags and the latest stash, by full name. */
  refs: Record<string, string>;
  warnings: string[];
  /** The unfinished git operation, such as "a rebase". */
  unfinishedState: string | undefined;
}

const maxPackedBytes = 16 * 1024 * 1024;
const maxLooseBytes = 4 * 1024;
const maxRefs = 20_000;
const maxDepth = 10;
const oidPattern = /^([\da-f]{40}|[\da-f]{64})$/;

/** Reads references as regular files; git never runs in that directory. */
export async function readUntrustedRefs(gitDir: string): Promise<UntrustedRefs> {
  const warnings: string[] = [];
  const refs = {
    ...parsePackedRefs((await readUntrusted(gitDir, "packed-refs", maxPackedBytes)) ?? ""),
    ...(await readLooseRefs(gitDir, "refs/heads")),
    ...(await readLooseRefs(gitDir, "refs/tags")),
  };
  const stash = await readOid(gitDir, "refs/stash");
  if (stash !== undefined) refs["refs/stash"] = stash;
  const unsafeNames = Object.keys(refs).filter(
    (name) => /* defence: safe-ref-names */ !isSafeRefName(name),
  );
  for (const name of unsafeNames) delete refs[name];
  if (unsafeNames.length > 0) {
    const named = unsafeNames.slice(0, 3).map((name) => JSON.stringify(name));
    warnings.push(`references with invalid names were skipped: ${named.join(", ")}`);
  }
  const text = (await readUntrusted(gitDir, "HEAD", maxLooseBytes))?.trim() ?? "";
  const [, named = null] = /^ref: *(\S+)$/.exec(text) ?? [];
  const headRef = named !== null && isSafeRefName(named) ? named : null;
  const head = headRef === null ? parseOid(text) : refs[headRef];
  return { head, headRef, refs, warnings, unfinishedState: await findUnfinishedState(gitDir) };
}

/** The rules of `git check-ref-format`; also excludes names that look like options or leave the folder. */
function isSafeRefName(name: string): boolean {
  if (!/^refs\/(heads|tags)\/.|^refs\/stash$/.test(name) || name.length > 250) return false;
  if (/[\u0000-\u0020\u007f~^:?*[\\]|\.\.|@\{|\/\/|\.$|\/$/.test(name)) return false;
  return name.split("/").every((part) => !/^[.-]|\.lock$/i.test(part) && part !== "@");
}

function parsePackedRefs(text: string): Record<string, string> {
  const refs: Record<string, string> = {};
  for (const line of text.split("\n")) {
    const [, oid, name] = /^([\da-f]{40}|[\da-f]{64}) (refs\/\S+)$/.exec(line) ?? [];
    const isBranchOrTag = name !== undefined && /^refs\/(heads|tags)\//.test(name);
    if (oid !== undefined && isBranchOrTag) refs[name] = oid;
  }
  return refs;
}

async function readLooseRefs(gitDir: string, root: string): Promise<Record<string, string>> {
  const refs: Record<string, string> = {};
  const folders = [root];
  let seen = 0;
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    if (folder.split("/").length > maxDepth) continue;
    for (const { name, kind } of await listUntrusted(join(gitDir, folder))) {
      seen += 1;
      if (seen > maxRefs) return refs;
      const refPath = `${folder}/${name}`;
      if (kind === "folder") folders.push(refPath);
      const oid = kind === "file" ? await readOid(gitDir, refPath) : undefined;
      if (oid !== undefined) refs[refPath] = oid;
    }
  }
  return refs;
}

async function readOid(gitDir: string, refPath: string): Promise<string | undefined> {
  return parseOid((await readUntrusted(gitDir, refPath, maxLooseBytes))?.trim() ?? "");
}

function parseOid(text: string): string | undefined {
  return oidPattern.test(text) ? text : undefined;
}

const unfinishedStates: [entry: string, operation: string][] = [
  ["rebase-merge", "a rebase"],
  ["rebase-apply", "a rebase or `git am`"],
  ["MERGE_HEAD", "a merge"],
  ["CHERRY_PICK_HEAD", "a cherry-pick"],
  ["REVERT_HEAD", "a revert"],
  ["sequencer", "a sequence of picks"],
  ["BISECT_LOG", "a bisection"],
];

async function findUnfinishedState(gitDir: string): Promise<string | undefined> {
  const names = new Set((await listUntrusted(gitDir)).map(({ name }) => name));
  return unfinishedStates.find(([entry]) => names.has(entry))?.[1];
}
