import { keptReport } from "../state/agent-report.ts";
import { type Artifact, keptArtifacts } from "../state/artifacts.ts";
import type { Evidence } from "./evidence.ts";

/** What an agent left with its job. */
export interface HandedIn {
  /** Null when there is none. */
  report: unknown;
  artifacts: Artifact[];
}

/** From the job's folder, so that it is the same whether or not the runner lives. */
export async function handedIn(jobDir: string): Promise<HandedIn> {
  const [report, artifacts] = await Promise.all([keptReport(jobDir), keptArtifacts(jobDir)]);
  return { report, artifacts };
}

/** The evidence, with whether the report that was demanded is there. */
export function withReport(evidence: Evidence, demanded: boolean, { report }: HandedIn): Evidence {
  return { ...evidence, reportMissing: demanded && report === null };
}

/** Which tools of the fleet were refused, for the record. A report that was put right is no news. */
export function refusalWarnings({ herdRefusals }: Evidence): string[] {
  const told = herdRefusals.filter(({ tool }) => tool !== "report");
  return [...new Set(told.map(({ tool, reason }) => `refused: ${tool}: ${worded(tool, reason)}`))];
}

function worded(tool: string, reason: string): string {
  if (!/No such tool available/.test(reason)) return reason;
  return `the agent does not have this tool; to allow it: tools: [${tool}]`;
}
