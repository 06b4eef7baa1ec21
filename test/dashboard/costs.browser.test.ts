import { expect, test } from "vitest";
import { ensureChromium } from "../support/chromium.ts";
import { findAccessibilityViolations } from "./accessibility.ts";
import { startDashboardHarness } from "./dashboard-harness.ts";

await ensureChromium();

const waitOptions = { timeout: 60_000 };
const longTimeout = { timeout: 180_000 };
const expensiveReply = { text: "Done.", usage: { input_tokens: 100_000, output_tokens: 1_000 } };

test(
  "shows a used-up budget, refuses the next job and raises the budget",
  longTimeout,
  async () => {
    const harness = await startDashboardHarness({
      script: { rules: [], default: expensiveReply },
      agents: "  - { name: coder, budget: { daily_usd: 0.01 } }",
    });
    const page = await harness.openPage("/costs");
    await page.getByText("$0 of $0.01").waitFor(waitOptions);
    const trigger = async (prompt: string) => {
      await page.goto(`${harness.url}/activity`);
      await page.getByRole("button", { name: "Trigger" }).click();
      const dialog = page.getByRole("dialog", { name: "Trigger an agent" });
      await dialog.getByRole("textbox", { name: "Prompt" }).fill(prompt);
      await dialog.getByRole("button", { name: "Trigger" }).click();
      await page.waitForURL("**/jobs/**", waitOptions);
    };

    await trigger("Spend something.");
    await page.getByText("Success").first().waitFor(waitOptions);
    await page.goto(`${harness.url}/costs`);
    await page.getByText("used up").waitFor(waitOptions);
    const costs = page.getByRole("region", { name: "Costs by agent" });
    await costs.getByRole("row", { name: /^coder \$/ }).waitFor(waitOptions);
    expect(await findAccessibilityViolations(page)).toEqual([]);

    await trigger("Spend more.");
    await page.getByText("budget exceeded").first().waitFor(waitOptions);
    const { jobs } = await harness.fleet().jobs.list({ limit: 1 });
    expect(jobs[0]).toMatchObject({ status: "skipped", outcome: { code: "budget_exceeded" } });

    await page.goto(`${harness.url}/costs`);
    await page.getByRole("button", { name: "Raise today's cost budget for coder" }).click();
    const dialog = page.getByRole("dialog", { name: "Raise today's budget for coder" });
    await dialog.getByRole("spinbutton", { name: "Additional dollars" }).fill("100");
    await dialog.getByRole("button", { name: "Raise" }).click();
    await page.getByText("of $100.01").waitFor(waitOptions);
    expect(await page.getByText("used up").count()).toBe(0);
    await trigger("Spend on.");
    await page.getByText("Success").first().waitFor(waitOptions);
  },
);

test("groups costs as the address says and updates the address", longTimeout, async () => {
  const harness = await startDashboardHarness({
    script: { rules: [], default: expensiveReply },
    agents: `  - name: coder
    schedules: { daily: { type: cron, cron: "0 0 1 1 *", prompt: p } }
  - name: writer`,
  });
  const fleet = harness.fleet();
  for (const more of [
    { agent: "coder", schedule: "daily" },
    { agent: "writer", prompt: "p" },
  ]) {
    const { job } = await fleet.jobs.trigger({ ...more });
    await fleet.jobs.wait(job.id);
  }
  const page = await harness.openPage("/costs?by=schedule&days=7");
  const row = page.getByRole("row", { name: /^coder · daily/ });
  await row.waitFor(waitOptions);
  await page.getByRole("heading", { name: "Last 7 days" }).waitFor(waitOptions);
  await page.getByRole("combobox", { name: "Agent" }).selectOption("writer");
  await page.waitForURL("**/costs?*agent=writer*", waitOptions);
  await row.waitFor({ state: "detached", ...waitOptions });
  await page.getByRole("combobox", { name: "Group by" }).selectOption("model");
  await page.waitForURL("**by=model*", waitOptions);
  await page.reload();
  await page.getByRole("row", { name: /^claude/ }).waitFor(waitOptions);
  await page.getByRole("img", { name: /^Cost by day/ }).waitFor(waitOptions);
});
