import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { AxeResults } from "axe-core";
import type { Page } from "playwright-core";

const source = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** What keeps people out of a page, by rule and place; only what is serious or worse. */
export async function barriers(page: Page): Promise<string[]> {
  // Into the page by the debugger's door, which the page's policy does not cover.
  await page.evaluate(source);
  const { violations }: AxeResults = await page.evaluate("axe.run()");
  return violations
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .flatMap(({ id, nodes }) =>
      nodes.map(({ target, failureSummary }) => `${id}: ${target}\n${failureSummary}`),
    );
}
