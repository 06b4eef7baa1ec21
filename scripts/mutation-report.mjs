// Reads the results of mutation testing and renders them for docs/proof/mutation.md.
import { existsSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { markdownTable } from "./markdown-table.mjs";

const root = resolve(import.meta.dirname, "..");
export const mutationGroups = readJson("test/mutation/groups.json");
export const acceptedSurvivors = readJson("test/mutation/accepted-survivors.json");
export const mutationRecordFile = join(root, "docs/proof/mutation.json");
/** In percent, for every group. */
export const minScore = 90;

export function mutationRecord() {
  return existsSync(mutationRecordFile) ? readJson("docs/proof/mutation.json") : { groups: {} };
}

/** Counts of a group, and its survivors with the reason why each is accepted. */
export function summarizeGroup({ files }, accepted) {
  const mutants = Object.entries(files).flatMap(([file, { source, mutants }]) =>
    mutants.map((mutant) => ({ ...mutant, file, original: textAt(source, mutant.location) })),
  );
  const count = (...statuses) => mutants.filter(({ status }) => statuses.includes(status)).length;
  const killed = count("Killed", "Timeout");
  const survivors = mutants.filter(({ status }) => ["Survived", "NoCoverage"].includes(status));
  const valid = killed + survivors.length;
  return {
    mutants: valid,
    killed,
    timeouts: count("Timeout"),
    score: Math.floor((killed / valid) * 1000) / 10,
    survivors: survivors.map(({ file, location, mutatorName, original, replacement }) => {
      const survivor = { file, line: location.start.line, mutator: mutatorName };
      const change = { original, replacement: shorten(replacement) };
      return { ...survivor, ...change, reason: reasonFor(accepted, file, { ...change }) };
    }),
  };
}

function reasonFor(accepted, file, { original, replacement }) {
  return accepted.find(
    (one) =>
      one.file === file && one.original === original && one.replacements.includes(replacement),
  )?.reason;
}

function textAt(source, { start, end }) {
  const lines = source.split("\n").slice(start.line - 1, end.line);
  const text = lines
    .map((line, index) => line.slice(0, index === lines.length - 1 ? end.column - 1 : undefined))
    .join("\n")
    .slice(start.column - 1);
  return shorten(text);
}

function shorten(text) {
  const line = text.replaceAll(/\s+/g, " ");
  return line.length > 100 ? `${line.slice(0, 99)}…` : line;
}

/** The generated pages by path. */
export function mutationPages({ groups }) {
  const results = Object.entries(groups);
  return {
    "docs/proof/mutation.md": `# Mutation testing

See how many small changes of the deciding code the tests notice. This page is generated from [mutation.json](mutation.json), which \`npm run test:mutation\` writes; do not edit it by hand.

A mutant is the source with one small change, such as \`<\` in place of \`<=\`, or an empty text in place of a message. A mutant is killed if a test fails or does not end. The score is the share of killed mutants; equivalent mutants count as survivors. Every group must reach ${minScore} %.

${markdownTable(
  ["group", "files", "mutants", "killed", "by timeout", "score", "measured"],
  results.map(([name, { mutants, killed, timeouts, score, commit, date }]) => [
    mutationGroups[name].title,
    mutationGroups[name].mutate.map((file) => `\`${file.split("/").slice(-1)}\``).join(", "),
    String(mutants),
    String(killed),
    timeouts === undefined ? "not recorded" : String(timeouts),
    `${score} %`,
    `${date}, \`${commit}\``,
  ]),
)}

## Survivors

Each survivor either behaves like the original for every input (equivalent), or is accepted for the given reason (\`test/mutation/accepted-survivors.json\`).

${results.map(([name, { survivors }]) => survivorSection(name, survivors)).join("\n\n")}

## How it is measured

\`npm run test:mutation\` runs all groups, \`npm run test:mutation claim session\` only the named ones. [Stryker](https://stryker-mutator.io) changes a copy of the checkout and runs, for each mutant, only the in-process tests that reach it. \`test/mutation/groups.json\` lists the files of each group and their tests. The command fails if a score is too low or a survivor has no explanation.
`,
  };
}

function survivorSection(name, survivors) {
  const rows = survivors.map(({ file, line, original, replacement, reason }) => [
    `\`${file.split("/").at(-1)}:${line}\``,
    code(original),
    code(replacement),
    reason ?? "**not explained**",
  ]);
  const table =
    rows.length === 0 ? "None." : markdownTable(["place", "original", "mutant", "reason"], rows);
  return `### ${mutationGroups[name].title}\n\n${table}`;
}

/** A text that may contain backticks, as inline code. */
function code(text) {
  if (text === "") return "(nothing)";
  return text.includes("`") ? `\`\` ${text} \`\`` : `\`${text}\``;
}

function readJson(path) {
  return JSON.parse(readFileSync(join(root, path), "utf8"));
}
