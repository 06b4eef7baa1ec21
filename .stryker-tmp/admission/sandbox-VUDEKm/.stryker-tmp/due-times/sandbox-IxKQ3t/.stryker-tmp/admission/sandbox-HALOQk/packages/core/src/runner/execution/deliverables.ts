import type { Artifact } from "@herdctl/protocol";
import { readReport } from "../../store/files/agent-report.ts";
import { listArtifacts } from "../../store/files/artifacts.ts";
import type { Evidence } from "./evidence.ts";

/** The report and files that an agent stored with its job. */
export interface JobDeliverables {
  /** Null if there is none. */
  report: unknown;
  artifacts: Artifact[];
}

/** Read from the job's folder, so that it also works after the runner died. */
export async function readDeliverables(jobDir: string): Promise<JobDeliverables> {
  const [report, artifacts] = await Promise.all([readReport(jobDir), listArtifacts(jobDir)]);
  return { report, artifacts };
}

/** Adds to the evidence whether a required report is missing. */
export function checkReport(
  evidence: Evidence,
  isReportRequired: boolean,
  { report }: JobDeliverables,
): Evidence {
  return { ...evidence, isReportMissing: isReportRequired && report === null };
}

/** Warnings about refused calls of fleet tools. Refused reports are left out: the agent corrects them. */
export function refusalWarnings({ toolRefusals }: Evidence): string[] {
  const relevantRefusals = toolRefusals.filter(({ tool }) => tool !== "report");
  return [
    ...new Set(
      relevantRefusals.map(
        ({ tool, reason }) => `refused: ${tool}: ${formatRefusal(tool, reason)}`,
      ),
    ),
  ];
}

function formatRefusal(tool: string, reason: string): string {
  if (!/No such tool available/.test(reason)) return reason;
  return `the agent does not have this tool; to allow it: tools: [${tool}]`;
}
