import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { type Artifact, artifactsDir } from "../state/artifacts.ts";
import type { Job } from "../state/job.ts";

/** A file that belongs to an answer; nothing is read when it is gone. */
export interface AnswerFile {
  name: string;
  read(): Promise<Buffer | undefined>;
}

/** More would push everything else out of sight. */
const mostFiles = 10;
const mostNamed = 3;

/** The files that an agent kept with its job: those that are posted, and a word on the others. */
export function filesOut(
  { id, artifacts }: Pick<Job, "id" | "artifacts">,
  largest: number,
): { posted: Artifact[]; remark: string | undefined } {
  const fitting = artifacts.filter(({ bytes }) => bytes > 0 && bytes <= largest);
  const posted = fitting.slice(0, mostFiles);
  const left = artifacts.filter((one) => !posted.includes(one));
  if (left.length === 0) return { posted, remark: undefined };
  const names = left.slice(0, mostNamed).map(({ name, bytes }) => `${name} (${sizeOf(bytes)})`);
  const more = left.length > mostNamed ? ` and ${left.length - mostNamed} more` : "";
  return {
    posted,
    remark: `📎 Not posted: ${names.join(", ")}${more}; on the fleet's machine: herdctl artifacts ${id}`,
  };
}

export function keptFile(jobDir: string, { name }: Artifact): AnswerFile {
  return { name, read: () => readFile(join(artifactsDir(jobDir), name)).catch(ifThere) };
}

function ifThere(error: unknown): undefined {
  if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
  throw error;
}

function sizeOf(bytes: number): string {
  return bytes < 1_000_000 ? `${bytes} bytes` : `${(bytes / 1_000_000).toFixed(1)} MB`;
}
