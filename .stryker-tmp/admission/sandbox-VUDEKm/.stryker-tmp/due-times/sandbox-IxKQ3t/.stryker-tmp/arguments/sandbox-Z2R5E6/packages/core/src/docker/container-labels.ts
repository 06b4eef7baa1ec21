import { createHash, randomBytes } from "node:crypto";
import { linkSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ensurePrivateDir } from "../store/files/state-folder.ts";

/** Labels that identify herdctl's containers and their jobs. */
export const labels = {
  fleet: "herdctl.fleet",
  agent: "herdctl.agent",
  job: "herdctl.job",
  attempt: "herdctl.attempt",
  /** Hash of the workspace path, to find out whether a workspace is in use. */
  workspace: "herdctl.workspace",
} as const;

export interface ContainerIdentity {
  fleet: string;
  agent: string;
  workspace: string;
  job: ContainerJob;
}

export interface ContainerJob {
  jobId: string;
  attempt: number;
}

export function labelsOf({ fleet, agent, workspace, job }: ContainerIdentity) {
  return {
    [labels.fleet]: fleet,
    [labels.agent]: agent,
    [labels.job]: job.jobId,
    [labels.attempt]: String(job.attempt),
    [labels.workspace]: shortHash(workspace),
  };
}

export function containerName({ jobId, attempt }: ContainerJob): string {
  return `herdctl-${jobId}-${attempt}`;
}

/** The job and attempt that a container was created for. */
export function containerJobOf(container: {
  labels: Readonly<Record<string, string>>;
}): ContainerJob {
  const { [labels.job]: jobId = "", [labels.attempt]: attempt = 0 } = container.labels;
  return { jobId, attempt: Number(attempt) };
}

export function shortHash(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 16);
}

/**
 * Identifies this fleet on a shared engine. It combines an id file with the path: a path alone can be
 * equal for fleets in two containers, an id alone for a fleet and its copy.
 */
export function fleetIdOf(stateDir: string): string {
  const file = join(ensurePrivateDir(stateDir), "fleet-id");
  return shortHash(`${readId(file) ?? createId(file)} ${realpathSync(stateDir)}`);
}

function readId(file: string): string | undefined {
  try {
    return readFileSync(file, "utf8").trim() || undefined;
  } catch {
    return undefined;
  }
}

/** If several processes create it concurrently, only one file is kept. */
function createId(file: string): string {
  const id = randomBytes(16).toString("hex");
  const tempFile = `${file}.${id}`;
  try {
    writeFileSync(tempFile, `${id}\n`, { mode: 0o600 });
    linkSync(tempFile, file);
    return id;
  } catch {
    return readId(file) ?? id;
  } finally {
    rmSync(tempFile, { force: true });
  }
}
