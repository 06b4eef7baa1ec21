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
import { formatPackedRefs, listRefs } from "./private-git.ts";
import { GitFailed, safeGit } from "./safe-git.ts";
import type { UntrustedRefs } from "./untrusted-refs.ts";
import { headRefOf, type ImportResult, type WantedRef, writeRefs } from "./write-refs.ts";

const maxOtherRefs = 100;

/**
 * Imports the commits of a container into the host's repository. Its objects are copied to a temporary
 * repository, then fetched into the host's object folder, with a check of each object. The host's
 * configuration is only used in the last step, when references are written.
 */
export async function importCommits(
  folder: string,
  repository: RecordedRepository,
  containerRefs: UntrustedRefs,
  jobId: string,
): Promise<ImportResult> {
  const [source, target] = [join(folder, "import-from"), join(folder, "import-to")];
  try {
    const hostRefs = await listRefs(repository.git_dir, []);
    // An interrupted import may already have written these references.
    const branch = `refs/heads/${repository.commit_branch}`;
    if (hostRefs[branch] === /* defence: cut-off-import-branch */ containerRefs.head)
      delete hostRefs[branch];
    for (const name of Object.keys(hostRefs)) if (isRefOfJob(name, jobId)) delete hostRefs[name];
    await createBareRepository(source, repository, {});
    await createBareRepository(
      target,
      repository,
      hostRefsNamespace(hostRefs, repository.host_head),
    );
    const { warnings } = await copyUntrustedObjects(join(folder, "private/objects"), source);
    const wanted = wantedRefs(repository, containerRefs, jobId);
    const existing = await filterExistingCommits(source, wanted);
    const missing = wanted.filter((ref) => !existing.includes(ref));
    if (missing.length > 0) warnings.push(`${missing.length} references point to missing commits`);
    const packsBefore = new Set(listPacks(repository));
    const fetched = await fetchRefs(source, target, repository, existing);
    const git = await writeRefs(target, repository, containerRefs, fetched.refs, jobId);
    chownToOwner(repository, packsBefore);
    return {
      git: git.git,
      warnings: [...warnings, ...fetched.warnings, ...git.warnings],
    };
  } finally {
    rmSync(source, { recursive: true, force: true });
    rmSync(target, { recursive: true, force: true });
  }
}

function isRefOfJob(name: string, jobId: string): boolean {
  const [, namespace = "", job] = name.split("/");
  return job === jobId && /^herdctl(-|$)/.test(namespace);
}

/** HEAD comes first. Names below its ref would conflict with it, so other refs use separate namespaces. */
function wantedRefs(
  repository: RecordedRepository,
  containerRefs: UntrustedRefs,
  jobId: string,
): WantedRef[] {
  const wanted: WantedRef[] = [];
  if (containerRefs.head !== undefined && containerRefs.head !== repository.head) {
    wanted.push({ name: "HEAD", oid: containerRefs.head, target: headRefOf(jobId) });
  }
  for (const [name, oid] of Object.entries(containerRefs.refs)) {
    if (repository.refs[name] === oid || oid === containerRefs.head) continue;
    const target = name
      .replace(/^refs\/heads\//, `refs/herdctl-branches/${jobId}/`)
      .replace(/^refs\/tags\//, `refs/herdctl-tags/${jobId}/`)
      .replace(/^refs\/stash$/, `refs/herdctl-stash/${jobId}`);
    if (wanted.length <= maxOtherRefs) wanted.push({ name, oid, target });
  }
  return wanted;
}

async function createBareRepository(
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
  writeFileSync(join(path, "packed-refs"), formatPackedRefs(refs), "latin1");
  writeFileSync(join(path, "objects/info/alternates"), `${objects.join("\n")}\n`);
  const shallow = join(common_dir, "shallow");
  if (existsSync(shallow)) await copyFile(shallow, join(path, "shallow"));
}

/** Renames the host's refs to `refs/host/`, so that objects the host already has are not fetched. */
function hostRefsNamespace(
  refs: Record<string, string>,
  head: string | null,
): Record<string, string> {
  const renamed = Object.entries(refs).map(([name, oid]) => [
    name.replace(/^refs\//, "refs/host/"),
    oid,
  ]);
  return { ...Object.fromEntries(renamed), ...(head !== null && { "refs/host-head": head }) };
}

async function filterExistingCommits(
  source: string,
  wanted: readonly WantedRef[],
): Promise<WantedRef[]> {
  if (wanted.length === 0) return [];
  const input = wanted.map(({ oid }) => `${oid}^{commit}\n`).join("");
  const objectTypes = (
    await safeGit(["cat-file", "--batch-check"], { gitDir: source, input })
  ).split("\n");
  return wanted.filter((_, index) => /^[\da-f]+ commit /.test(objectTypes[index] ?? ""));
}

/** Fetches HEAD separately, so that errors of other refs do not affect it. */
async function fetchRefs(
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
    writeFileSync(join(source, "packed-refs"), formatPackedRefs(Object.fromEntries(numbered)));
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
      warnings.push(`other branches of the run could not be imported: ${error.message}`);
    }
  }
  return { refs: fetched, warnings };
}

function listPacks({ common_dir }: RecordedRepository): string[] {
  return readdirSync(join(common_dir, "objects/pack"));
}

/** Gives files that root wrote to the repository's owner. */
function chownToOwner(repository: RecordedRepository, packsBefore: ReadonlySet<string>): void {
  if (process.getuid?.() !== 0) return;
  const { uid, gid } = lstatSync(repository.common_dir);
  const packs = listPacks(repository).filter((name) => !packsBefore.has(name));
  for (const name of packs) chownSync(join(repository.common_dir, "objects/pack", name), uid, gid);
  const names = readdirSync(join(repository.common_dir, "refs"));
  for (const name of names.filter((entry) => /^herdctl(-|$)/.test(entry))) {
    chownTree(join(repository.common_dir, "refs", name), uid, gid);
  }
}

function chownTree(folder: string, uid: number, gid: number): void {
  chownSync(folder, uid, gid);
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) chownTree(path, uid, gid);
    else chownSync(path, uid, gid);
  }
}
