import { statSync } from "node:fs";
import { join, resolve } from "node:path";
import { type ImportPlan, planImport } from "@herdctl/config";
import { findFleetFile, ProblemsError, UserError } from "@herdctl/protocol";
import type { CommandContext } from "../command.ts";
import { diffLines, reportLines, shortPath } from "../import/import-report.ts";
import { backupEnding, writeImport } from "../import/write-import.ts";
import { formatCount } from "../render/format-amounts.ts";

export async function run(context: CommandContext): Promise<number> {
  const { options, env } = context;
  const plan = planImport(resolveSource(context), env);
  const isDryRun = options.dryRun === true;
  if (plan.problems.length > 0) {
    printFindings(context, plan);
    throw new ProblemsError("import_failed", plan.problems);
  }
  if (!isDryRun) await writeImport(plan);
  if (context.terminal.isJson) printResult(context, plan, isDryRun);
  else describeResult(context, plan, isDryRun);
  return 0;
}

/** A fleet file, or the folder that contains it. */
function resolveSource({ arguments: [path], cwd }: CommandContext): string {
  if (path === undefined) return findFleetFile({ cwd });
  const target = resolve(cwd, path);
  const found = statSync(target, { throwIfNoEntry: false });
  if (found?.isFile()) return target;
  if (found?.isDirectory()) return findFleetFile({ config: join(target), cwd });
  throw new UserError("usage", `${path} does not exist`, {
    hint: "Name a herdctl.yaml or the folder that contains it.",
  });
}

function printResult({ terminal }: CommandContext, plan: ImportPlan, isDryRun: boolean): void {
  const { files, findings, variables, folders } = plan;
  terminal.printJson({
    dry_run: isDryRun,
    files,
    findings,
    variables: Object.keys(variables),
    folders,
  });
}

function printFindings({ terminal, cwd }: CommandContext, plan: ImportPlan): void {
  if (terminal.isJson) return;
  for (const line of reportLines(plan, cwd, terminal.colors)) terminal.print(line);
}

function describeResult(context: CommandContext, plan: ImportPlan, isDryRun: boolean): void {
  const { terminal, cwd } = context;
  const { green, bold, dim } = terminal.colors;
  if (isDryRun) {
    for (const file of plan.files) {
      for (const line of diffLines(file, cwd, terminal.colors)) terminal.print(line);
    }
    if (plan.files.length > 0) terminal.print("");
  }
  printFindings(context, plan);
  if (plan.files.length === 0) {
    terminal.print(`${green("✓")} Nothing to change: the fleet is in the format of this version.`);
    return;
  }
  if (isDryRun) {
    terminal.print(`${formatCount(plan.files.length, "file")} would change. Nothing was written.`);
    return;
  }
  for (const { file } of plan.files) terminal.print(`${green("✓")} ${shortPath(file, cwd)}`);
  const names = Object.keys(plan.variables);
  if (names.length > 0) terminal.print(`${green("✓")} .env ${dim(names.join(", "))}`);
  terminal.print(dim(`  The files as they were end in ${backupEnding}.`));
  const decisions = plan.findings.filter(({ kind }) => kind === "decision").length;
  if (decisions > 0) terminal.print(`\n${formatCount(decisions, "decision")} to make, see above.`);
  terminal.print(`${bold("Next:")} herdctl config check`);
}
