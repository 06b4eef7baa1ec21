import { join } from "node:path";
import { listUntrusted, readUntrusted } from "./untrusted-file.ts";

/** What a git directory says that a container has written, as far as it can be used. */
export interface UntrustedRefs {
  head: string | undefined;
  /** The branch of HEAD; null when it is detached. */
  headRef: string | null;
  /** Branches, tags and the latest stash, by their full names. */
  refs: Record<string, string>;
  warnings: string[];
  /** What git was in the middle of, such as "a rebase". */
  unfinished: string | undefined;
}

const maxPackedBytes = 16 * 1024 * 1024;
const maxLooseBytes = 4 * 1024;
const maxRefs = 20_000;
const maxDepth = 10;
const oidPattern = /^([\da-f]{40}|[\da-f]{64})$/;

/** Reads values of references as plain files; git never runs in that directory. */
export async function readUntrustedRefs(gitDir: string): Promise<UntrustedRefs> {
  const warnings: string[] = [];
  const refs = {
    ...parsePacked((await readUntrusted(gitDir, "packed-refs", maxPackedBytes)) ?? ""),
    ...(await readLoose(gitDir, "refs/heads")),
    ...(await readLoose(gitDir, "refs/tags")),
  };
  const stash = await readOid(gitDir, "refs/stash");
  if (stash !== undefined) refs["refs/stash"] = stash;
  const refused = Object.keys(refs).filter((name) => !isSafeRefName(name));
  for (const name of refused) delete refs[name];
  if (refused.length > 0) {
    const named = refused.slice(0, 3).map((name) => JSON.stringify(name));
    warnings.push(
      `references with names that git does not allow were left out: ${named.join(", ")}`,
    );
  }
  const text = (await readUntrusted(gitDir, "HEAD", maxLooseBytes))?.trim() ?? "";
  const [, named = null] = /^ref: *(\S+)$/.exec(text) ?? [];
  const headRef = named !== null && isSafeRefName(named) ? named : null;
  const head = headRef === null ? asOid(text) : refs[headRef];
  return { head, headRef, refs, warnings, unfinished: await unfinishedWork(gitDir) };
}

/** The rules of `git check-ref-format`, and no name that could be an option or leave the folder. */
function isSafeRefName(name: string): boolean {
  if (!/^refs\/(heads|tags)\/.|^refs\/stash$/.test(name) || name.length > 250) return false;
  if (/[\u0000-\u0020\u007f~^:?*[\\]|\.\.|@\{|\/\/|\.$|\/$/.test(name)) return false;
  return name.split("/").every((part) => !/^[.-]|\.lock$/i.test(part) && part !== "@");
}

function parsePacked(text: string): Record<string, string> {
  const refs: Record<string, string> = {};
  for (const line of text.split("\n")) {
    const [, oid, name] = /^([\da-f]{40}|[\da-f]{64}) (refs\/\S+)$/.exec(line) ?? [];
    const isOurs = name !== undefined && /^refs\/(heads|tags)\//.test(name);
    if (oid !== undefined && isOurs) refs[name] = oid;
  }
  return refs;
}

async function readLoose(gitDir: string, root: string): Promise<Record<string, string>> {
  const refs: Record<string, string> = {};
  const folders = [root];
  let seen = 0;
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    if (folder.split("/").length > maxDepth) continue;
    for (const { name, kind } of await listUntrusted(join(gitDir, folder))) {
      seen += 1;
      if (seen > maxRefs) return refs;
      const inner = `${folder}/${name}`;
      if (kind === "folder") folders.push(inner);
      const oid = kind === "file" ? await readOid(gitDir, inner) : undefined;
      if (oid !== undefined) refs[inner] = oid;
    }
  }
  return refs;
}

async function readOid(gitDir: string, inner: string): Promise<string | undefined> {
  return asOid((await readUntrusted(gitDir, inner, maxLooseBytes))?.trim() ?? "");
}

function asOid(text: string): string | undefined {
  return oidPattern.test(text) ? text : undefined;
}

const states: [entry: string, what: string][] = [
  ["rebase-merge", "a rebase"],
  ["rebase-apply", "a rebase or `git am`"],
  ["MERGE_HEAD", "a merge"],
  ["CHERRY_PICK_HEAD", "a cherry-pick"],
  ["REVERT_HEAD", "a revert"],
  ["sequencer", "a sequence of picks"],
  ["BISECT_LOG", "a bisection"],
];

async function unfinishedWork(gitDir: string): Promise<string | undefined> {
  const names = new Set((await listUntrusted(gitDir)).map(({ name }) => name));
  return states.find(([entry]) => names.has(entry))?.[1];
}
