import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";

const root = resolve(import.meta.dirname, "../..");
const proofDataFile = resolve(root, "docs/proof/faults.json");
const proofPageFile = resolve(root, "docs/proof/faults.md");

/** The result of one long test; `table` has lines of Markdown. */
export interface ProofSection {
  seed: number;
  seconds: number;
  plannedCount: number;
  runCount: number;
  complaints: string[];
  table: string[];
}

/** Remarks are written into `faults.json` by hand; the next run of the same section replaces them. */
type RecordedSection = ProofSection & { commit: string; date: string; remarks?: string[] };

const titles: Record<string, string> = {
  loop: "Failpoints",
  nodes: "Failpoints on nodes that share a store",
  model: "Random commands against a model",
  damage: "Damaged state files",
  race: "Two fleets on one state directory",
  soak: "Accelerated soak test",
  storm: "Random failures of three nodes",
  schedules: "Schedules of three nodes",
};

/** Stores the section in place of an older one and writes the page again. */
export function recordSection(name: keyof typeof titles, section: ProofSection): void {
  const all: Record<string, RecordedSection> = existsSync(proofDataFile)
    ? JSON.parse(readFileSync(proofDataFile, "utf8"))
    : {};
  const date = new Date().toISOString().slice(0, 10);
  all[name] = { ...section, commit, date };
  writeFileSync(proofDataFile, `${JSON.stringify(all, null, 2)}\n`);
  writeFileSync(proofPageFile, renderPage(all));
}

function renderPage(all: Record<string, RecordedSection>): string {
  const sections = Object.entries(titles).flatMap(([name, title]) => {
    const found = all[name];
    return found ? [renderSection(title, found)] : [];
  });
  return ["# Fault injection results", intro, ...sections].join("\n\n");
}

const intro =
  "See which faults were injected into running fleets, and how many violations were found. `npm run test:long` writes this page; [Proof](README.md) explains the tests. Each section names the commit it was run at.";

function renderSection(title: string, section: RecordedSection): string {
  const {
    commit,
    date,
    seed,
    seconds,
    plannedCount,
    runCount,
    complaints,
    table,
    remarks = [],
  } = section;
  return [
    `## ${title}`,
    "",
    `Commit ${commit}, ${date}, seed ${seed}, ${seconds} s: ${runCount} of ${plannedCount} cases run, ${complaints.length} violations.`,
    "",
    ...table,
    ...(complaints.length > 0 ? ["", ...complaints.map((text) => `- ${text}`)] : []),
    ...(remarks.length > 0 ? ["", ...remarks] : []),
    "",
  ].join("\n");
}

/** Read at the start, because the checkout may change while the test runs. */
const commit = currentCommit();

function currentCommit(): string {
  const git = (...args: string[]) => execFileSync("git", args, { cwd: root, encoding: "utf8" });
  const changed = git("status", "--porcelain", "packages", "test").trim() !== "";
  return `${git("rev-parse", "--short=10", "HEAD").trim()}${changed ? ", with changes" : ""}`;
}
