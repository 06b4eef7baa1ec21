import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { defences } from "./defences.ts";

const checkout = resolve(import.meta.dirname, "../..");
export const pagePath = resolve(checkout, "docs/proof/defences.md");

let at: string | undefined;

/** Puts down that without these defences a test went red, just now; of others the page stays as it is. */
export function putDown(names: readonly string[]): void {
  // Asked once: the page itself is a change.
  at ??= commit();
  const now = `${new Date().toISOString().slice(0, 10)}, ${at}`;
  const seen = new Map([...seenBefore(), ...names.map((name) => [name, now] as const)]);
  mkdirSync(dirname(pagePath), { recursive: true });
  writeFileSync(pagePath, pageOf(seen));
}

/** When each defence was last seen to be missed, by the page as it is. */
export function seenBefore(): Map<string, string> {
  const page = existsSync(pagePath) ? readFileSync(pagePath, "utf8") : "";
  const rows = page.matchAll(/^\| (.+?) \| .* \| (\d{4}-\d\d-\d\d, \S+) \|$/gm);
  return new Map([...rows].map(([, name = "", when = ""]) => [name, when]));
}

export function pageOf(seen: ReadonlyMap<string, string>): string {
  const all = Object.values(defences).flat();
  const count = all.filter(({ name }) => seen.has(name)).length;
  const areas = Object.entries(defences).flatMap(([area, own]) => [
    `## ${area}`,
    "",
    "| defence | guards | without it this goes red | seen |",
    "|---|---|---|---|",
    ...own.map(({ name, guards, red }) => {
      const test = `[${red.file}](../../${red.file}): “${red.test}”`;
      return `| ${name} | ${guards} | ${test} | ${seen.get(name) ?? "not yet"} |`;
    }),
    "",
  ]);
  return `# Defences, proved by removal

Written by \`npm run test:removal\`. Each defence is taken away in a copy of the checkout, by the edit that [test/abuse/defences.ts](../../test/abuse/defences.ts) names; the test beside it passes with the defence and fails without it. When that was seen last, and at which commit, stands beside it.

${count} of ${all.length} defences were seen to be missed.

${areas.join("\n").trimEnd()}
`;
}

function commit(): string {
  const args = ["describe", "--always", "--dirty", "--exclude=*"];
  return execFileSync("git", args, { cwd: checkout, encoding: "utf8" }).trim();
}
