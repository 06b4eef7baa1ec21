import { createHash } from "node:crypto";

/** By these a container is known to be ours, and whose work it does. */
export const labels = {
  fleet: "herdctl.fleet",
  agent: "herdctl.agent",
  job: "herdctl.job",
  attempt: "herdctl.attempt",
  /** A fingerprint of the folder, for whoever must know whether it is in use. */
  workspace: "herdctl.workspace",
} as const;

export interface ContainerIdentity {
  fleet: string;
  agent: string;
  jobId: string;
  attempt: number;
  workspace: string;
}

export function labelsOf(identity: ContainerIdentity): Record<string, string> {
  return {
    [labels.fleet]: identity.fleet,
    [labels.agent]: identity.agent,
    [labels.job]: identity.jobId,
    [labels.attempt]: String(identity.attempt),
    [labels.workspace]: fingerprint(identity.workspace),
  };
}

export function containerName({ jobId, attempt }: ContainerIdentity): string {
  return `herdctl-${jobId}-${attempt}`;
}

export function fingerprint(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 16);
}
