import { expect, test } from "vitest";
import { ensureChromium } from "../support/chromium.ts";
import { findAccessibilityViolations } from "./accessibility.ts";
import { type DashboardHarness, startDashboardHarness } from "./dashboard-harness.ts";

await ensureChromium();

const waitOptions = { timeout: 60_000 };
const longTimeout = { timeout: 180_000 };
const agents = `  - name: coder
    budget: { daily_usd: 5 }
    schedules: { nightly: { type: cron, cron: "0 3 * * *", prompt: Tidy. } }
  - name: writer`;

/** Pending jobs that no fleet starts. */
async function createJobs(
  { fleet }: DashboardHarness,
  agent: string,
  count: number,
): Promise<void> {
  await fleet().agents.pause(agent);
  for (let n = 0; n < count; n += 1) {
    await fleet().jobs.trigger({ agent, prompt: `${agent} ${n}.` });
  }
}

test("filters jobs by the address and scrolls to the end of the list", longTimeout, async () => {
  const harness = await startDashboardHarness({ script: { rules: [] }, agents });
  await createJobs(harness, "coder", 3);
  await createJobs(harness, "writer", 230);
  const { jobs } = await harness.fleet().jobs.list({ agent: "coder", limit: 1 });
  await harness.fleet().jobs.cancel(jobs[0]?.id ?? "");

  const page = await harness.openPage("/activity");
  const list = page.getByRole("list", { name: "Jobs" });
  await list.getByText("writer 229.").waitFor(waitOptions);
  expect(await findAccessibilityViolations(page)).toEqual([]);
  const last = list.getByText("coder 0.");
  await expect
    .poll(
      async () => {
        await page.mouse.wheel(0, 4_000);
        return last.count();
      },
      { timeout: 60_000 },
    )
    .toBe(1);
  // The page only contains the visible part of the list.
  expect(await list.getByRole("listitem").count()).toBeLessThan(60);

  await page.getByRole("combobox", { name: "agent" }).selectOption("coder");
  await page.waitForURL("**/activity?*agent=coder*", waitOptions);
  await list.getByText("coder 2.").waitFor(waitOptions);
  await list
    .getByText("writer")
    .first()
    .waitFor({ state: "detached", ...waitOptions });
  await page.getByRole("combobox", { name: "status" }).selectOption("cancelled");
  await list.getByText("coder 1.").waitFor({ state: "detached", ...waitOptions });
  await list.getByText("coder 2.").waitFor(waitOptions);
  expect(await list.getByRole("listitem").count()).toBe(1);

  await page.reload();
  await list.getByText("coder 2.").waitFor(waitOptions);
  expect(await list.getByRole("listitem").count()).toBe(1);
  await page.getByRole("button", { name: "Clear" }).click();
  await list.getByText("writer 229.").waitFor(waitOptions);
  await page.goBack();
  await page.goto(`${harness.url}/activity?tab=due`);
  await page.getByRole("heading", { name: "Upcoming" }).waitFor(waitOptions);
  await page.getByText("coder · nightly").first().waitFor(waitOptions);
});

test("shows a reader everything and lets them change nothing", longTimeout, async () => {
  const harness = await startDashboardHarness({ script: { rules: [] }, agents });
  await createJobs(harness, "coder", 2);
  const page = await harness.openPage("/activity", { scope: "read" });
  await page.getByText("coder 1.").waitFor(waitOptions);
  const trigger = page.getByRole("button", { name: "Trigger" });
  await expect.poll(() => trigger.getAttribute("aria-disabled")).toBe("true");
  expect(await trigger.getAttribute("title")).toContain("herdctl open");
  await trigger.click({ force: true });
  expect(await page.getByRole("dialog").count()).toBe(0);

  await page.goto(`${harness.url}/costs`);
  const raise = page.getByRole("button", { name: "Raise today's cost budget for coder" });
  await raise.waitFor(waitOptions);
  await expect.poll(() => raise.getAttribute("aria-disabled")).toBe("true");
  await page.goto(`${harness.url}/chat?agent=coder&with=new`);
  const field = page.getByRole("textbox", { name: "Message coder" });
  await field.waitFor(waitOptions);
  await expect.poll(() => field.isDisabled()).toBe(true);

  // The server refuses it too, not only the page.
  const status = await page.evaluate(async () => {
    const body = JSON.stringify({ agent: "coder", prompt: "p" });
    return (await fetch("/v1/jobs", { method: "POST", body })).status;
  });
  expect(status).toBe(403);
  expect((await harness.fleet().jobs.list({ limit: 10 })).jobs).toHaveLength(2);
});
