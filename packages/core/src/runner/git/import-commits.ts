import {
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { copyFile } from "node:fs/promises";
import { join } from "node:path";
import { copyUntrustedObjects } from "./copy-objects.ts";
import type { RecordedRepository } from "./git-record.ts";
import { configLine } from "./private-config.ts";
import { listRefs, packedRefs } from "./private-git.ts";
import { GitFailed, safeGit } from "./safe-git.ts";
import type { UntrustedRefs } from "./untrusted-refs.ts";
import { headRefOf, type Imported, type WantedRef, writeRefs } from "./write-refs.ts";

const maxOtherRefs = 100;

/**
 * Brings what a container has committed into the host's repository. A copy of its objects lies in a
 * repository of ours; from there they are fetched, checked object by object, into the host's object
 * folder. The host's configuration takes part in nothing but the last step, writing references.
 */
export async function importCommits(
  folder: string,
  repository: RecordedRepository,
  seen: UntrustedRefs,
  jobId: string,
): Promise<Imported> {
  const [source, target] = [join(folder, "import-from"), join(folder, "import-to")];
  try {
    const hostRefs = await listRefs(repository.git_dir, []);
    // An import that was cut off may have written them already.
    for (const name of Object.keys(hostRefs)) if (isOfJob(name, jobId)) delete hostRefs[name];
    await makeBare(source, repository, {});
    await makeBare(target, repository, hostRefsOf(hostRefs, repository.host_head));
    const { warnings } = await copyUntrustedObjects(join(folder, "private/objects"), source);
    const wanted = wantedRefs(repository, seen, jobId);
    const there = await withCommits(source, wanted);
    const lost = wanted.filter((one) => !there.includes(one));
    if (lost.length > 0) warnings.push(`${lost.length} references name no commit that is there`);
    const packsBefore = new Set(packsOf(repository));
    const fetched = await fetchEach(source, target, repository, there);
    const git = await writeRefs(target, repository, seen, fetched.refs, jobId);
    giveToOwner(repository, packsBefore);
    return {
      git: git.git,
      warnings: [...warnings, ...fetched.warnings, ...git.warnings],
    };
  } finally {
    rmSync(source, { recursive: true, force: true });
    rmSync(target, { recursive: true, force: true });
  }
}

function isOfJob(name: string, jobId: string): boolean {
  const [, space = "", job] = name.split("/");
  return job === jobId && /^herdctl(-|$)/.test(space);
}

/** HEAD first; a name below it would be in conflict with it, so others have namespaces of their own. */
function wantedRefs(
  repository: RecordedRepository,
  seen: UntrustedRefs,
  jobId: string,
): WantedRef[] {
  const wanted: WantedRef[] = [];
  if (seen.head !== undefined && seen.head !== repository.head) {
    wanted.push({ name: "HEAD", oid: seen.head, target: headRefOf(jobId) });
  }
  for (const [name, oid] of Object.entries(seen.refs)) {
    if (repository.refs[name] === oid || oid === seen.head) continue;
    const target = name
      .replace(/^refs\/heads\//, `refs/herdctl-branches/${jobId}/`)
      .replace(/^refs\/tags\//, `refs/herdctl-tags/${jobId}/`)
      .replace(/^refs\/stash$/, `refs/herdctl-stash/${jobId}`);
    if (wanted.length <= maxOtherRefs) wanted.push({ name, oid, target });
  }
  return wanted;
}

async function makeBare(
  path: string,
  { common_dir, objects, object_format }: RecordedRepository,
  refs: Record<string, string>,
): Promise<void> {
  rmSync(path, { recursive: true, force: true });
  for (const inner of ["objects/info", "objects/pack", "refs"]) {
    mkdirSync(join(path, inner), { recursive: true, mode: 0o700 });
  }
  const isSha256 = object_format === "sha256";
  const config = [
    { key: "core.repositoryformatversion", value: isSha256 ? "1" : "0" },
    { key: "core.bare", value: "true" },
    ...(isSha256 ? [{ key: "extensions.objectformat", value: "sha256" }] : []),
  ];
  writeFileSync(join(path, "HEAD"), "ref: refs/heads/none\n");
  writeFileSync(join(path, "config"), config.map(configLine).join(""));
  writeFileSync(join(path, "packed-refs"), packedRefs(refs), "latin1");
  writeFileSync(join(path, "objects/info/alternates"), `${objects.join("\n")}\n`);
  const shallow = join(common_dir, "shallow");
  if (existsSync(shallow)) await copyFile(shallow, join(path, "shallow"));
}

/** So that nothing is fetched which the host has. */
function hostRefsOf(refs: Record<string, string>, head: string | null): Record<string, string> {
  const named = Object.entries(refs).map(([name, oid]) => [
    name.replace(/^refs\//, "refs/host/"),
    oid,
  ]);
  return { ...Object.fromEntries(named), ...(head !== null && { "refs/host-head": head }) };
}

async function withCommits(source: string, wanted: readonly WantedRef[]): Promise<WantedRef[]> {
  if (wanted.length === 0) return [];
  const input = wanted.map(({ oid }) => `${oid}^{commit}\n`).join("");
  const answers = (await safeGit(["cat-file", "--batch-check"], { gitDir: source, input })).split(
    "\n",
  );
  return wanted.filter((_, index) => /^[\da-f]+ commit /.test(answers[index] ?? ""));
}

/** HEAD by itself, so that nothing else can keep it from being brought out. */
async function fetchEach(
  source: string,
  target: string,
  repository: RecordedRepository,
  wanted: readonly WantedRef[],
): Promise<{ refs: WantedRef[]; warnings: string[] }> {
  const fetched: WantedRef[] = [];
  const warnings: string[] = [];
  const groups = [
    wanted.filter(({ name }) => name === "HEAD"),
    wanted.filter(({ name }) => name !== "HEAD"),
  ];
  for (const [index, group] of groups.entries()) {
    if (group.length === 0) continue;
    const numbered = group.map(
      ({ oid }, number) => [`refs/heads/${index}-${number}`, oid] as const,
    );
    writeFileSync(join(source, "packed-refs"), packedRefs(Object.fromEntries(numbered)));
    const specs = numbered.map(([name]) => `+${name}:${name.replace("heads", "new")}`);
    const options = ["--quiet", "--no-tags", "--no-recurse-submodules", "--refmap="];
    try {
      await safeGit(["-c", "fetch.unpackLimit=1", "fetch", ...options, source, ...specs], {
        gitDir: target,
        env: { GIT_OBJECT_DIRECTORY: join(repository.common_dir, "objects") },
      });
      fetched.push(...group);
    } catch (error) {
      if (!(error instanceof GitFailed) || index === 0) throw error;
      warnings.push(`other branches of the run could not be brought out: ${error.message}`);
    }
  }
  return { refs: fetched, warnings };
}

function packsOf({ common_dir }: RecordedRepository): string[] {
  return readdirSync(join(common_dir, "objects/pack"));
}

/** What root wrote belongs to the repository's owner. */
function giveToOwner(repository: RecordedRepository, packsBefore: ReadonlySet<string>): void {
  if (process.getuid?.() !== 0) return;
  const { uid, gid } = lstatSync(repository.common_dir);
  const packs = packsOf(repository).filter((name) => !packsBefore.has(name));
  for (const name of packs) chownSync(join(repository.common_dir, "objects/pack", name), uid, gid);
  const names = readdirSync(join(repository.common_dir, "refs"));
  for (const name of names.filter((one) => /^herdctl(-|$)/.test(one))) {
    giveAll(join(repository.common_dir, "refs", name), uid, gid);
  }
}

function giveAll(folder: string, uid: number, gid: number): void {
  chownSync(folder, uid, gid);
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) giveAll(path, uid, gid);
    else chownSync(path, uid, gid);
  }
}
