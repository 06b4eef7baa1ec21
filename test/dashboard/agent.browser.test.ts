import { expect, test } from "vitest";
import { chromiumIsThere } from "../support/chromium.ts";
import { dashboardStage } from "./stage.ts";

await chromiumIsThere();

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

test("an agent's live run is told as it goes, and its jobs when they have ended", async () => {
  const stage = await dashboardStage({ script, agents });
  const page = await stage.open("/agents/fixer");
  await page.getByText("It has not run yet").waitFor();
  const { job } = await stage
    .fleet()
    .trigger({ trigger: "manual", agent: "fixer", prompt: "Slowly" });
  const live = page.getByRole("list", { name: "What it did last" });
  await live.getByText("First I wait a little.").waitFor();
  await live.getByText("sleep 3").waitFor();
  await stage.fleet().wait(job.id);
  await live.waitFor({ state: "detached" });
  const jobs = page.getByRole("region", { name: "Latest jobs" }).first();
  await jobs.getByText("completed").waitFor();
  await jobs.getByRole("link", { name: "Slowly" }).click();
  await page.waitForURL(`${stage.url}/jobs/${job.id}`);
});

test("schedules are switched and the agent is paused from its page, and it shows", async () => {
  const stage = await dashboardStage({ script, agents });
  const page = await stage.open("/agents/fixer?tab=schedules");
  await page.getByRole("switch", { name: "Schedule hourly" }).click();
  await page.getByRole("switch", { name: "Schedule hourly", checked: false }).waitFor();
  expect(await stage.fleet().schedules()).toMatchObject([{ schedule: "hourly", enabled: false }]);

  await page.getByRole("button", { name: "Pause" }).click();
  await page.getByRole("button", { name: "Resume" }).waitFor();
  expect((await stage.fleet().status()).agents).toMatchObject([
    { paused: { reason: expect.any(String) } },
  ]);
  await page.getByRole("button", { name: "Resume" }).click();
  await page.getByRole("button", { name: "Pause" }).waitFor();
});

test("what an agent may do, and where each value was written, stand on its page", async () => {
  const stage = await dashboardStage({ script, agents });
  const page = await stage.open("/agents/fixer?tab=security");
  const touches = page.getByRole("region", { name: "What it can touch" });
  await touches.getByText("Every tool, unasked").waitFor();

  await page.getByRole("tab", { name: "Configuration" }).click();
  await page.waitForURL(/tab=configuration/);
  await page.getByRole("button", { name: "Only what is written" }).click();
  await page.waitForURL(/written=true/);
  const row = page.getByRole("row").filter({ hasText: "permission_mode" });
  await row.getByText(/herdctl\.yaml:\d+/).waitFor();
  expect(await page.getByText("default", { exact: true }).count()).toBe(0);
});
