import { expect, test } from "vitest";
import { ensureChromium } from "../support/chromium.ts";
import { startDashboardHarness } from "./dashboard-harness.ts";

await ensureChromium();

const script = {
  rules: [
    {
      match: { prompt: "Slowly" },
      replies: [
        {
          text: "First I wait a little.",
          tools: [{ name: "Bash", input: { command: "sleep 3" } }],
        },
        "Slowly, but done.",
      ],
    },
    { reply: "Done." },
  ],
};
const agents = `  - name: fixer
    description: Fixes things
    schedules: { hourly: { type: interval, every: 1h, prompt: Go on. } }`;

test("shows an agent's live run and its finished jobs", async () => {
  const harness = await startDashboardHarness({ script, agents });
  const page = await harness.openPage("/agents/fixer");
  await page.getByText("No jobs yet").waitFor();
  const { job } = await harness.fleet().jobs.trigger({ agent: "fixer", prompt: "Slowly" });
  const live = page.getByRole("list", { name: "Recent activity" });
  await live.getByText("First I wait a little.").waitFor();
  await live.getByText("sleep 3").waitFor();
  await harness.fleet().jobs.wait(job.id);
  await live.waitFor({ state: "detached" });
  const jobs = page.getByRole("region", { name: "Latest jobs" }).first();
  await jobs.getByText("Success").waitFor();
  await jobs.getByRole("link", { name: "Slowly" }).click();
  await page.waitForURL(`${harness.url}/jobs/${job.id}`);
});

test("switches schedules and pauses the agent from its page", async () => {
  const harness = await startDashboardHarness({ script, agents });
  const page = await harness.openPage("/agents/fixer?tab=schedules");
  await page.getByRole("switch", { name: "Schedule hourly" }).click();
  await page.getByRole("switch", { name: "Schedule hourly", checked: false }).waitFor();
  expect(await harness.fleet().schedules.list()).toMatchObject([
    { schedule: "hourly", enabled: false },
  ]);

  await page.getByRole("button", { name: "Pause" }).click();
  await page.getByRole("button", { name: "Resume" }).waitFor();
  expect((await harness.fleet().status()).agents).toMatchObject([
    { paused: { reason: expect.any(String) } },
  ]);
  await page.getByRole("button", { name: "Resume" }).click();
  await page.getByRole("button", { name: "Pause" }).waitFor();
});

test("shows what an agent may do and where each value was written", async () => {
  const harness = await startDashboardHarness({ script, agents });
  const page = await harness.openPage("/agents/fixer?tab=security");
  const touches = page.getByRole("region", { name: "What it can do" });
  await touches.getByText("Uses every tool without asking").waitFor();

  await page.getByRole("tab", { name: "Configuration" }).click();
  await page.waitForURL(/tab=configuration/);
  await page.getByRole("button", { name: "Explicit values" }).click();
  await page.waitForURL(/written=true/);
  const row = page.getByRole("row").filter({ hasText: "permission_mode" });
  await row.getByText(/herdctl\.yaml:\d+/).waitFor();
  expect(await page.getByText("Default", { exact: true }).count()).toBe(0);
});
