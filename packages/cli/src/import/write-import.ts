import { copyFileSync, existsSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import type { ImportPlan } from "@herdctl/config";
import { writeFileAtomic } from "@herdctl/core/internal";
import { envFileName, UserError } from "@herdctl/protocol";

/** Copies of the imported files get this ending. */
export const backupEnding = ".before-import";

/**
 * Writes an import: first a copy of every file, then the files. If one cannot be written, all of them
 * are as before.
 */
export async function writeImport(plan: ImportPlan): Promise<void> {
  assertUnchanged(plan);
  const envFile = join(dirname(plan.fleetFile), envFileName);
  const changed = plan.files.map(({ file }) => file);
  for (const folder of plan.folders) mkdirSync(folder, { recursive: true });
  const before = new Map([...changed, envFile].map((file) => [file, readIfPresent(file)]));
  for (const file of changed) {
    if (!existsSync(file + backupEnding)) copyFileSync(file, file + backupEnding);
  }
  try {
    for (const { file, after } of plan.files) await writeFileAtomic(file, after, 0o644);
    await addVariables(envFile, plan.variables);
  } catch (error) {
    for (const [file, text] of before) {
      if (text === undefined) rmSync(file, { force: true });
      else await writeFileAtomic(file, text, file === envFile ? 0o600 : 0o644);
    }
    throw error;
  }
}

function assertUnchanged({ files }: ImportPlan): void {
  for (const { file, before } of files) {
    if (readIfPresent(file) === before) continue;
    throw new UserError("import_failed", `${file} was changed in the meantime`, {
      hint: "Run `herdctl import` again. Nothing was written.",
    });
  }
}

async function addVariables(file: string, variables: Record<string, string>): Promise<void> {
  const lines = Object.entries(variables).map(([name, value]) => `${name}=${quote(value)}`);
  if (lines.length === 0) return;
  const current = readIfPresent(file) ?? "";
  const gap = current === "" || current.endsWith("\n") ? "" : "\n";
  await writeFileAtomic(file, `${current}${gap}${lines.join("\n")}\n`, 0o600);
}

function quote(value: string): string {
  return value === "" || /^[\w./:@+=-]+$/.test(value) ? value : JSON.stringify(value);
}

function readIfPresent(file: string): string | undefined {
  return existsSync(file) ? readFileSync(file, "utf8") : undefined;
}
