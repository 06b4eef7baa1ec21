import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { z } from "zod";
import { gitTrapsSchema } from "./trap-scan.ts";

const oid = z.string();
const refValues = z.record(z.string(), z.string());

/** What must be known to bring commits out of a private git directory, also after a crash. */
const gitRecordSchema = z.object({
  version: z.literal(1),
  workspace: z.string(),
  /** Not looked through for traps: hidden from the container. */
  skip: z.array(z.string()),
  /** Null where the workspace has no repository of the operator's. */
  repository: z
    .object({
      git_dir: z.string(),
      common_dir: z.string(),
      objects: z.array(z.string()),
      object_format: z.enum(["sha1", "sha256"]),
      commit_branch: z.string().nullable(),
      /** HEAD of the host's repository when the private directory was made. */
      host_head: oid.nullable(),
      host_ref: z.string().nullable(),
      /** HEAD and refs that the container began with, or has been brought out with since. */
      head: oid.nullable(),
      refs: refValues,
      /** Where the agent's history continues in its next run. */
      history_file: z.string(),
      /** The last of the agent's commits that this run knows of. */
      history: oid.nullable(),
    })
    .nullable(),
  traps: gitTrapsSchema,
});
export type GitRecord = z.infer<typeof gitRecordSchema>;
export type RecordedRepository = NonNullable<GitRecord["repository"]>;

/** The agent's last commits, from which its next run may continue. */
const gitHistorySchema = z.object({
  version: z.literal(1),
  host_head: oid.nullable(),
  host_ref: z.string().nullable(),
  /** The ref in the host's repository; deleting it makes the agent start from HEAD again. */
  kept_as: z.string(),
  head: oid,
  head_ref: z.string().nullable(),
  branches: refValues,
});
export type GitHistory = z.infer<typeof gitHistorySchema>;

export function gitLayout(folder: string) {
  return {
    record: join(folder, "record.json"),
    /** What the container sees in place of `.git`; only this is mounted. */
    privateDir: join(folder, "private"),
    gitFile: join(folder, "gitfile"),
    noAlternates: join(folder, "no-alternates"),
  };
}

export function readRecord(folder: string): GitRecord | undefined {
  return readJson(gitLayout(folder).record, gitRecordSchema);
}

export function writeRecord(folder: string, record: GitRecord): void {
  writeJson(gitLayout(folder).record, record);
}

export function readHistory(file: string): GitHistory | undefined {
  return readJson(file, gitHistorySchema);
}

export function writeHistory(file: string, history: GitHistory): void {
  writeJson(file, history);
}

function readJson<T>(file: string, schema: z.ZodType<T>): T | undefined {
  try {
    return schema.parse(JSON.parse(readFileSync(file, "utf8")));
  } catch {
    return undefined;
  }
}

function writeJson(file: string, value: unknown): void {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  const draft = `${file}.${process.pid}`;
  writeFileSync(draft, JSON.stringify(value), { mode: 0o600 });
  renameSync(draft, file);
}
