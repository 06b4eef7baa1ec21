import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { writeFileAtomic } from "./atomic-file.ts";

const fileSchema = z.object({ version: z.literal(1), report: z.unknown() });

/**
 * What an agent hands in as the result of its job. When it resolves, the report outlives this
 * process and a power cut. The last one counts, of whichever attempt.
 */
export async function keepReport(jobDir: string, report: unknown): Promise<void> {
  await writeFileAtomic(fileOf(jobDir), `${JSON.stringify({ version: 1, report })}\n`);
}

/** Null when there is none. */
export async function keptReport(jobDir: string): Promise<unknown> {
  try {
    return fileSchema.parse(JSON.parse(await readFile(fileOf(jobDir), "utf8"))).report ?? null;
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return null;
    throw error;
  }
}

function fileOf(jobDir: string): string {
  return join(jobDir, "report.json");
}
