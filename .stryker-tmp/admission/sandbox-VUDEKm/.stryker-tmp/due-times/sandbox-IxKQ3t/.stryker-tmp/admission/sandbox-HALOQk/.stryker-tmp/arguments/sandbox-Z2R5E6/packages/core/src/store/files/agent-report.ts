import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { hasErrorCode } from "@herdctl/protocol";
import { z } from "zod";
import { writeFileAtomic } from "../../lib/atomic-file.ts";

const reportFileSchema = z.object({ version: z.literal(1), report: z.unknown() });

/**
 * Writes the report that an agent submits as the result of its job. When it resolves, the report
 * survives this process and a power cut. The last report counts, from any attempt.
 */
export async function writeReport(jobDir: string, report: unknown): Promise<void> {
  await writeFileAtomic(reportPath(jobDir), `${JSON.stringify({ version: 1, report })}\n`);
}

/** Null if there is none. */
export async function readReport(jobDir: string): Promise<unknown> {
  try {
    return (
      reportFileSchema.parse(JSON.parse(await readFile(reportPath(jobDir), "utf8"))).report ?? null
    );
  } catch (error) {
    if (hasErrorCode(error, "ENOENT")) return null;
    throw error;
  }
}

function reportPath(jobDir: string): string {
  return join(jobDir, "report.json");
}
