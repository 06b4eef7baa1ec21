import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { AxeResults } from "axe-core";
import type { Page } from "playwright-core";

const axeSource = readFileSync(
  createRequire(import.meta.url).resolve("axe-core/axe.min.js"),
  "utf8",
);

/** Serious and critical accessibility violations, by rule and element. */
export async function findAccessibilityViolations(page: Page): Promise<string[]> {
  // Playwright evaluates through the debugger, which the page's policy does not block.
  await page.evaluate(axeSource);
  const { violations }: AxeResults = await page.evaluate("axe.run()");
  return violations
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .flatMap(({ id, nodes }) =>
      nodes.map(({ target, failureSummary }) => `${id}: ${target}\n${failureSummary}`),
    );
}
