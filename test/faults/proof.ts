import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";

const root = resolve(import.meta.dirname, "../..");
const json = resolve(root, "docs/proof/faults.json");
const page = resolve(root, "docs/proof/faults.md");

/** What one of the long tests found; `table` are lines of Markdown. */
export interface Section {
  seed: number;
  took: number;
  planned: number;
  run: number;
  complaints: string[];
  table: string[];
}

/** Remarks are written by hand into `faults.json`, and go with the run that they are about. */
type Recorded = Section & { commit: string; date: string; remarks?: string[] };

const titles: Record<string, string> = {
  loop: "Fail-points",
  nodes: "Fail-points on nodes that share a store",
  model: "Random commands against a model",
  damage: "Damaged state files",
  race: "Two fleets at once",
  soak: "A long time in short",
  storm: "A storm over three nodes",
  schedules: "Schedules of three nodes",
};

/** Keeps the section, in place of an older one, and writes the page anew. */
export function recordSection(name: keyof typeof titles, section: Section): void {
  const all: Record<string, Recorded> = existsSync(json)
    ? JSON.parse(readFileSync(json, "utf8"))
    : {};
  const date = new Date().toISOString().slice(0, 10);
  all[name] = { ...section, commit, date };
  writeFileSync(json, `${JSON.stringify(all, null, 2)}\n`);
  writeFileSync(page, pageOf(all));
}

function pageOf(all: Record<string, Recorded>): string {
  const sections = Object.entries(titles).flatMap(([name, title]) => {
    const found = all[name];
    return found ? [sectionOf(title, found)] : [];
  });
  return ["# Faults: what was run, and what came of it", intro, ...sections].join("\n\n");
}

const intro =
  "Written by `npm run test:long`; [how to read it](README.md). Each part says at which commit it was run.";

function sectionOf(title: string, section: Recorded): string {
  const { commit, date, seed, took, planned, run, complaints, table, remarks = [] } = section;
  return [
    `## ${title}`,
    "",
    `Commit ${commit}, ${date}, seed ${seed}, ${took} s: ${run} of ${planned} run, ${complaints.length} complaints.`,
    "",
    ...table,
    ...(complaints.length > 0 ? ["", ...complaints.map((text) => `- ${text}`)] : []),
    ...(remarks.length > 0 ? ["", ...remarks] : []),
    "",
  ].join("\n");
}

/** Of what runs, though others may commit meanwhile. */
const commit = currentCommit();

function currentCommit(): string {
  const git = (...args: string[]) => execFileSync("git", args, { cwd: root, encoding: "utf8" });
  const changed = git("status", "--porcelain", "packages", "test").trim() !== "";
  return `${git("rev-parse", "--short=10", "HEAD").trim()}${changed ? ", with changes" : ""}`;
}
