import { createHash } from "node:crypto";

/** By these a container is known to be ours, and whose work it does. */
export const labels = {
  fleet: "herdctl.fleet",
  agent: "herdctl.agent",
  job: "herdctl.job",
  attempt: "herdctl.attempt",
  /** Names a spare, which had no job when it was made. */
  spare: "herdctl.spare",
  /** A fingerprint of the folder, for whoever must know whether it is in use. */
  workspace: "herdctl.workspace",
} as const;

export interface ContainerIdentity {
  fleet: string;
  agent: string;
  workspace: string;
  who: ContainerJob | { spare: string };
}

export interface ContainerJob {
  jobId: string;
  attempt: number;
}

export function labelsOf({ fleet, agent, workspace, who }: ContainerIdentity) {
  const own: Record<string, string> =
    "spare" in who
      ? { [labels.spare]: who.spare }
      : { [labels.job]: who.jobId, [labels.attempt]: String(who.attempt) };
  return {
    [labels.fleet]: fleet,
    [labels.agent]: agent,
    ...own,
    [labels.workspace]: fingerprint(workspace),
  };
}

export function containerName(who: ContainerIdentity["who"]): string {
  return "spare" in who ? `herdctl-spare-${who.spare}` : `herdctl-${who.jobId}-${who.attempt}`;
}

/**
 * For which run a container was made; undefined for a spare that has none yet. A spare gets the name
 * of its job, since labels stay what they were.
 */
export function madeFor(container: {
  name: string;
  labels: Readonly<Record<string, string>>;
}): ContainerJob | undefined {
  const { [labels.job]: job, [labels.attempt]: attempt, [labels.spare]: spare } = container.labels;
  if (job !== undefined) return { jobId: job, attempt: Number(attempt) };
  if (spare === undefined) return { jobId: "", attempt: 0 };
  const [, jobId, number] = /^herdctl-(?!spare-)(.+)-(\d+)$/.exec(container.name) ?? [];
  return jobId === undefined ? undefined : { jobId, attempt: Number(number) };
}

export function fingerprint(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 16);
}
