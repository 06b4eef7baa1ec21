import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { defences } from "./defences.ts";

const checkout = resolve(import.meta.dirname, "../..");
export const pagePath = resolve(checkout, "docs/proof/defences.md");

interface Sight {
  /** What the test said when it failed. */
  how: string;
  when: string;
}

/** Puts down that without this defence its test went red, just now; of others the page stays as it is. */
export function putDown(name: string, reason: string, at: string): void {
  const now = { how: shortened(reason), when: `${new Date().toISOString().slice(0, 10)}, ${at}` };
  mkdirSync(dirname(pagePath), { recursive: true });
  writeFileSync(pagePath, pageOf(new Map([...seenBefore(), [name, now]])));
}

/** When each defence was last seen to be missed, by the page as it is. */
export function seenBefore(): Map<string, Sight> {
  const page = existsSync(pagePath) ? readFileSync(pagePath, "utf8") : "";
  const rows = page.matchAll(/^\| (.+?) \| .* \| (?:`(.+)`)? ?\| (\d{4}-\d\d-\d\d, \S+) \|$/gm);
  return new Map([...rows].map(([, name = "", how = "", when = ""]) => [name, { how, when }]));
}

export function pageOf(seen: ReadonlyMap<string, Sight>): string {
  const all = Object.values(defences).flat();
  const count = all.filter(({ name }) => seen.has(name)).length;
  const areas = Object.entries(defences).flatMap(([area, own]) => [
    `## ${area}`,
    "",
    "| defence | guards | without it this goes red | with these words | seen |",
    "|---|---|---|---|---|",
    ...own.map(({ name, guards, red }) => {
      const test = `[${red.file}](../../${red.file}): “${red.test}”`;
      const sight = seen.get(name);
      const how = sight?.how ? `\`${sight.how}\`` : "";
      return `| ${name} | ${guards} | ${test} | ${how} | ${sight?.when ?? "not yet"} |`;
    }),
    "",
  ]);
  return `# Defences, proved by removal

Written by \`npm run test:removal\`. Each defence is taken away in a copy of the checkout, by the edit that [test/abuse/defences.ts](../../test/abuse/defences.ts) names; the test beside it fails then, and right afterwards passes with the defence back in its place. What counts is a test that says what is wrong: one that ran out of time, or a program that the edit has broken, does not. With which words it failed, when that was seen last and at which commit stands beside it.

${count} of ${all.length} defences were seen to be missed.

${areas.join("\n").trimEnd()}
`;
}

const longest = 140;

/** Fit for a cell, and without what is different each time. */
function shortened(reason: string): string {
  const plain = reason
    .replaceAll(/\/tmp\/[^\s'",)]+/g, "/tmp/…")
    .replaceAll(/job-\d{4}-\d\d-\d\d-\w+/g, "job-…")
    .replaceAll(/[\s`|\p{Cc}]+/gu, " ")
    .trim();
  return plain.length > longest ? `${plain.slice(0, longest - 1)}…` : plain;
}

export function currentCommit(): string {
  const args = ["describe", "--always", "--dirty", "--exclude=*"];
  return execFileSync("git", args, { cwd: checkout, encoding: "utf8" }).trim();
}
