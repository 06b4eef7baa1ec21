import type { Artifact } from "@herdctl/protocol";
import { z } from "zod";
import { listArtifacts, readReport } from "../../store/files/artifacts.ts";
import type { Evidence } from "./evidence.ts";
import { openWorkspaceFile, type WorkspaceAccess } from "./workspace-file.ts";

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

type MetadataReadResult =
  | { kind: "none" }
  | { kind: "found"; metadata: Record<string, unknown> }
  | { kind: "wrong"; warning: string };

const maxBytes = 1024 * 1024;
const metadataSchema = z.record(z.string(), z.unknown());

/** The JSON object that the agent wrote for hooks, if it did so during this run. */
export async function readMetadataFile(
  from: WorkspaceAccess,
  name: string,
  since: Date,
): Promise<MetadataReadResult> {
  const invalid = (why: string): MetadataReadResult => ({
    kind: "wrong",
    warning: `${name} was not used: ${why}`,
  });
  // Resolved against the working directory, whose path differs in a container.
  const opened = await openWorkspaceFile(from, name);
  if (opened.kind === "missing") return { kind: "none" };
  if (opened.kind === "refused") return invalid(opened.reason);
  const { file, bytes } = opened;
  try {
    if ((await file.stat()).mtime < since) return { kind: "none" };
    if (bytes > maxBytes) return invalid("it is larger than 1 MB");
    const parsed = metadataSchema.safeParse(parseJson(await file.readFile("utf8")));
    return parsed.success
      ? { kind: "found", metadata: parsed.data }
      : invalid("it is not a JSON object");
  } finally {
    await file.close();
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
