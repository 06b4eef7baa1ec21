import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { defences } from "./defences.ts";
import { withDefences, withoutDefence } from "./remove-defence.ts";
import { Twin } from "./twin.ts";

const page = resolve(import.meta.dirname, "../../docs/proof/defences.md");
const twin = new Twin();
const all = Object.values(defences).flat();
const sound = new Map<string, Promise<void>>();
const rows = new Map<string, string[]>();

describe.each(Object.entries(defences))("%s", (area, own) => {
  test.each(own)("without this a test goes red: $name", { timeout: 400_000 }, async (defence) => {
    const { name, guards, red } = defence;
    await soundness(red.file);
    const reason = await withoutDefence(twin, defence);
    expect(reason).not.toBe("");
    process.stdout.write(`red without: ${name}\n`);
    const row = `| ${name} | ${guards} | [${red.file}](../../${red.file}): “${red.test}” |`;
    rows.set(area, [...(rows.get(area) ?? []), row]);
  });
});

afterAll(() => {
  twin.remove();
  if ([...rows.values()].flat().length === all.length) writePage();
});

/** All that a file is to show, seen once with every defence in its place. */
function soundness(file: string): Promise<void> {
  const names = all.filter(({ red }) => red.file === file).map(({ red }) => red.test);
  const known = sound.get(file) ?? withDefences(twin, file, [...new Set(names)]);
  sound.set(file, known);
  return known;
}

function writePage(): void {
  const commit = execFileSync("git", ["describe", "--always", "--dirty"], { encoding: "utf8" });
  const areas = [...rows].flatMap(([area, lines]) => [
    `## ${area}`,
    "",
    "| defence | guards | without it this goes red |",
    "|---|---|---|",
    ...lines,
    "",
  ]);
  const head = [
    "# Defences, proved by removal",
    "",
    "Written by `npm run test:removal`. Each defence was taken away, by the edit that [test/abuse/defences.ts](../../test/abuse/defences.ts) names, in a copy of the checkout; the test beside it passed with the defence and failed without it.",
    "",
    `Seen on ${new Date().toISOString().slice(0, 10)} at commit ${commit.trim()}: ${all.length} defences, none without a test that notices.`,
    "",
  ];
  mkdirSync(dirname(page), { recursive: true });
  writeFileSync(page, `${[...head, ...areas].join("\n").trimEnd()}\n`);
}
