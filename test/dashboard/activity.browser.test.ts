import { expect, test } from "vitest";
import { chromiumIsThere } from "../support/chromium.ts";
import { barriers } from "./axe.ts";
import { type DashboardStage, dashboardStage } from "./stage.ts";

await chromiumIsThere();

const patience = { timeout: 60_000 };
const long = { timeout: 180_000 };
const agents = `  - name: coder
    budget: { daily_usd: 5 }
    schedules: { nightly: { type: cron, cron: "0 3 * * *", prompt: Tidy. } }
  - name: writer`;

/** Jobs that wait, since nobody starts them. */
async function fill({ fleet }: DashboardStage, agent: string, count: number): Promise<void> {
  await fleet().pauseAgent(agent);
  for (let n = 0; n < count; n += 1) {
    await fleet().trigger({ trigger: "manual", agent, prompt: `${agent} ${n}.` });
  }
}

test("jobs are filtered by what stands in the address, and read to their end", long, async () => {
  const on = await dashboardStage({ script: { rules: [] }, agents });
  await fill(on, "coder", 3);
  await fill(on, "writer", 230);
  const { jobs } = await on.fleet().jobs({ agent: "coder", limit: 1 });
  await on.fleet().cancel(jobs[0]?.id ?? "");

  const page = await on.open("/activity");
  const list = page.getByRole("list", { name: "Jobs" });
  await list.getByText("writer 229.").waitFor(patience);
  expect(await barriers(page)).toEqual([]);
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
  // However long the list is, only what can be seen of it is in the page.
  expect(await list.getByRole("listitem").count()).toBeLessThan(60);

  await page.getByRole("combobox", { name: "agent" }).selectOption("coder");
  await page.waitForURL("**/activity?*agent=coder*", patience);
  await list.getByText("coder 2.").waitFor(patience);
  await list
    .getByText("writer")
    .first()
    .waitFor({ state: "detached", ...patience });
  await page.getByRole("combobox", { name: "status" }).selectOption("cancelled");
  await list.getByText("coder 1.").waitFor({ state: "detached", ...patience });
  await list.getByText("coder 2.").waitFor(patience);
  expect(await list.getByRole("listitem").count()).toBe(1);

  await page.reload();
  await list.getByText("coder 2.").waitFor(patience);
  expect(await list.getByRole("listitem").count()).toBe(1);
  await page.getByRole("button", { name: "Clear" }).click();
  await list.getByText("writer 229.").waitFor(patience);
  await page.goBack();
  await page.goto(`${on.url}/activity?tab=due`);
  await page.getByRole("heading", { name: "Coming next" }).waitFor(patience);
  await page.getByText("coder · nightly").first().waitFor(patience);
});

test("who may only look sees everything and changes nothing", long, async () => {
  const on = await dashboardStage({ script: { rules: [] }, agents });
  await fill(on, "coder", 2);
  const page = await on.open("/activity", { scope: "read" });
  await page.getByText("coder 1.").waitFor(patience);
  const trigger = page.getByRole("button", { name: "Trigger" });
  await expect.poll(() => trigger.getAttribute("aria-disabled")).toBe("true");
  expect(await trigger.getAttribute("title")).toContain("herdctl open");
  await trigger.click({ force: true });
  expect(await page.getByRole("dialog").count()).toBe(0);

  await page.goto(`${on.url}/costs`);
  const raise = page.getByRole("button", { name: "Raise the cost of coder for today" });
  await raise.waitFor(patience);
  await expect.poll(() => raise.getAttribute("aria-disabled")).toBe("true");
  await page.goto(`${on.url}/chat?agent=coder&with=new`);
  const field = page.getByRole("textbox", { name: "Say something to coder" });
  await field.waitFor(patience);
  await expect.poll(() => field.isDisabled()).toBe(true);

  // Not only the page holds back: the fleet does.
  const status = await page.evaluate(async () => {
    const body = JSON.stringify({ agent: "coder", prompt: "p" });
    return (await fetch("/v1/jobs", { method: "POST", body })).status;
  });
  expect(status).toBe(403);
  expect((await on.fleet().jobs({ limit: 10 })).jobs).toHaveLength(2);
});
