import { expect, test } from "vitest";
import { chromiumIsThere } from "../support/chromium.ts";
import { barriers } from "./axe.ts";
import { dashboardStage } from "./stage.ts";

await chromiumIsThere();

const patience = { timeout: 60_000 };
const long = { timeout: 180_000 };
const dear = { text: "Done.", usage: { input_tokens: 100_000, output_tokens: 1_000 } };

test(
  "a budget that is used up is seen, keeps the next job out, and can be raised",
  long,
  async () => {
    const on = await dashboardStage({
      script: { rules: [], default: dear },
      agents: "  - { name: coder, budget: { daily_usd: 0.01 } }",
    });
    const page = await on.open("/costs");
    await page.getByText("$0 of $0.01").waitFor(patience);
    const trigger = async (prompt: string) => {
      await page.goto(`${on.url}/activity`);
      await page.getByRole("button", { name: "Trigger" }).click();
      const dialog = page.getByRole("dialog", { name: "Trigger an agent" });
      await dialog.getByRole("textbox", { name: "Prompt" }).fill(prompt);
      await dialog.getByRole("button", { name: "Trigger" }).click();
      await page.waitForURL("**/jobs/**", patience);
    };

    await trigger("Spend something.");
    await page.getByText("completed").first().waitFor(patience);
    await page.goto(`${on.url}/costs`);
    await page.getByText("used up").waitFor(patience);
    const costs = page.getByRole("region", { name: "Costs by agent" });
    await costs.getByRole("row", { name: /^coder \$/ }).waitFor(patience);
    expect(await barriers(page)).toEqual([]);

    await trigger("Spend more.");
    await page.getByText("budget exceeded").first().waitFor(patience);
    const { jobs } = await on.fleet().jobs({ limit: 1 });
    expect(jobs[0]).toMatchObject({ status: "skipped", outcome: { code: "budget_exceeded" } });

    await page.goto(`${on.url}/costs`);
    await page.getByRole("button", { name: "Raise the cost of coder for today" }).click();
    const dialog = page.getByRole("dialog", { name: "Raise the budget of coder" });
    await dialog.getByRole("spinbutton", { name: "By how many dollars" }).fill("100");
    await dialog.getByRole("button", { name: "Raise" }).click();
    await page.getByText("of $100.01").waitFor(patience);
    expect(await page.getByText("used up").count()).toBe(0);
    await trigger("Spend on.");
    await page.getByText("completed").first().waitFor(patience);
  },
);

test(
  "costs are told apart as the address says, and choosing changes the address",
  long,
  async () => {
    const on = await dashboardStage({
      script: { rules: [], default: dear },
      agents: `  - name: coder
    schedules: { daily: { type: cron, cron: "0 0 1 1 *", prompt: p } }
  - name: writer`,
    });
    const fleet = on.fleet();
    for (const more of [
      { agent: "coder", schedule: "daily" },
      { agent: "writer", prompt: "p" },
    ]) {
      const { job } = await fleet.trigger({ trigger: "manual", ...more });
      await fleet.wait(job.id);
    }
    const page = await on.open("/costs?by=schedule&days=7");
    const row = page.getByRole("row", { name: /^coder · daily/ });
    await row.waitFor(patience);
    await page.getByRole("heading", { name: "The last 7 days" }).waitFor(patience);
    await page.getByRole("combobox", { name: "Of which agent" }).selectOption("writer");
    await page.waitForURL("**/costs?*agent=writer*", patience);
    await row.waitFor({ state: "detached", ...patience });
    await page.getByRole("combobox", { name: "Told apart by" }).selectOption("model");
    await page.waitForURL("**by=model*", patience);
    await page.reload();
    await page.getByRole("row", { name: /^claude/ }).waitFor(patience);
    await page.getByRole("img", { name: /^Cost by day/ }).waitFor(patience);
  },
);
