import { relative } from "node:path";
import type { FindingKind, ImportedFile, ImportFinding, ImportPlan } from "@herdctl/config";
import { createTwoFilesPatch } from "diff";
import type { Terminal } from "../terminal.ts";

const headings: Record<FindingKind, string> = {
  decision: "To decide: the safe choice is written",
  moved: "Moved to another file",
  ignored: "Removed: no counterpart, and nothing depends on it",
  renamed: "Renamed",
};

/** All findings, those that need a person first. */
export function reportLines(plan: ImportPlan, cwd: string, colors: Terminal["colors"]): string[] {
  const { bold, dim, yellow } = colors;
  return (Object.keys(headings) as FindingKind[]).flatMap((kind) => {
    const found = plan.findings.filter((finding) => finding.kind === kind);
    if (found.length === 0) return [];
    const mark = kind === "decision" ? yellow("!") : dim("·");
    const lines = found.map(
      (finding) => `  ${mark} ${dim(placeOf(finding, cwd))}  ${finding.message}`,
    );
    return [`${bold(headings[kind])} ${dim(`(${found.length})`)}`, ...lines, ""];
  });
}

function placeOf({ file, line, path }: ImportFinding, cwd: string): string {
  return `${shortPath(file, cwd)}:${line}${path === "" ? "" : ` ${path}`}`;
}

export function shortPath(file: string, cwd: string): string {
  const path = relative(cwd, file);
  return path.startsWith("..") ? file : path;
}

/** The change of one file, as `diff -u` shows it. */
export function diffLines(
  { file, before, after }: ImportedFile,
  cwd: string,
  { green, red, cyan, bold }: Terminal["colors"],
): string[] {
  const name = shortPath(file, cwd);
  const patch = createTwoFilesPatch(name, name, before, after, undefined, undefined, {
    context: 2,
  });
  return patch
    .split("\n")
    .slice(1, -1)
    .map((line) => {
      if (line.startsWith("+++") || line.startsWith("---")) return bold(line.trimEnd());
      if (line.startsWith("@@")) return cyan(line);
      if (line.startsWith("+")) return green(line);
      return line.startsWith("-") ? red(line) : line;
    });
}
