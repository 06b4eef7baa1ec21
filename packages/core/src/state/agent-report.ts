import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { writeFileAtomic } from "./atomic-file.ts";

/** What an agent gave as the result of its job, as data. */
export const agentReportSchema = z
  .json()
  .refine((value) => value !== null, "a report says something");
export type AgentReport = z.infer<typeof agentReportSchema>;

const fileSchema = z.object({ version: z.literal(1), report: agentReportSchema });

/** When it resolves the report outlives this process, and a power cut. The last one counts. */
export async function keepReport(jobDir: string, report: AgentReport): Promise<void> {
  await writeFileAtomic(fileOf(jobDir), `${JSON.stringify({ version: 1, report })}\n`);
}

/** Of whichever attempt of the job. */
export async function keptReport(jobDir: string): Promise<AgentReport | null> {
  try {
    return fileSchema.parse(JSON.parse(await readFile(fileOf(jobDir), "utf8"))).report;
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return null;
    throw error;
  }
}

function fileOf(jobDir: string): string {
  return join(jobDir, "report.json");
}
