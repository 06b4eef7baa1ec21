import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { jobGitSchema } from "@herdctl/protocol/schemas";
import { z } from "zod";
import { gitTrapsSchema } from "./scan-git-traps.ts";

const oidSchema = z.string();
const refValuesSchema = z.record(z.string(), z.string());

/** Facts needed to import commits from a private git directory, also after a crash. */
const gitRecordSchema = z.object({
  version: z.literal(1),
  workspace: z.string(),
  /** Not scanned for traps, because it is hidden from the container. */
  skip: z.array(z.string()),
  /** Null if the workspace has no repository of the operator. */
  repository: z
    .object({
      git_dir: z.string(),
      common_dir: z.string(),
      objects: z.array(z.string()),
      object_format: z.enum(["sha1", "sha256"]),
      commit_branch: z.string().nullable(),
      /** HEAD of the host's repository when the private directory was created. */
      host_head: oidSchema.nullable(),
      host_ref: z.string().nullable(),
      /** HEAD and refs at the start of the container, or after the last import. */
      head: oidSchema.nullable(),
      refs: refValuesSchema,
      /** The file with the agent's history, from which its next run continues. */
      history_file: z.string(),
      /** The agent's last commit when this run started, or at the last import. */
      history: oidSchema.nullable(),
    })
    .nullable(),
  traps: gitTrapsSchema,
  /** The result of the last import and its job, in case the process dies before it reports it. */
  collected: z
    .object({ job_id: z.string(), git: jobGitSchema.nullable(), warnings: z.array(z.string()) })
    .nullable()
    .default(null),
});
export type GitRecord = z.infer<typeof gitRecordSchema>;
export type RecordedRepository = NonNullable<GitRecord["repository"]>;

/** The agent's last commits, from which its next run may continue. */
const gitHistorySchema = z.object({
  version: z.literal(1),
  host_head: oidSchema.nullable(),
  host_ref: z.string().nullable(),
  /** The ref in the host's repository; deleting it makes the agent start from HEAD again. */
  kept_as: z.string(),
  head: oidSchema,
  head_ref: z.string().nullable(),
  branches: refValuesSchema,
});
export type GitHistory = z.infer<typeof gitHistorySchema>;

export function gitLayout(folder: string) {
  return {
    record: join(folder, "record.json"),
    /** Mounted in place of `.git`; nothing else of the folder is visible in the container. */
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
  const draftFile = `${file}.${process.pid}`;
  writeFileSync(draftFile, JSON.stringify(value), { mode: 0o600 });
  renameSync(draftFile, file);
}
