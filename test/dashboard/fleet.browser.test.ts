import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { chromiumIsThere, openPage, phone } from "../support/chromium.ts";
import { sliceOf } from "../support/width.ts";
import { barriers } from "./axe.ts";
import { dashboardStage } from "./stage.ts";

await chromiumIsThere();

const script = {
  rules: [
    {
      match: { prompt: "Slowly" },
      replies: [{ tools: [{ name: "Bash", input: { command: "sleep 2" } }] }, "Slowly, but done."],
    },
    { reply: "Done." },
  ],
};
const agents = `  - name: fixer
    description: Fixes <script>alert(1)</script> things
    default_prompt: Fix it.
  - name: reporter
    schedules: { hourly: { type: interval, every: 1h, prompt: Report. } }`;

const rowOf = (page: Page, agent: string) =>
  page.getByRole("list", { name: "Agents" }).getByRole("listitem").filter({ hasText: agent });

test("a browser comes in by its link, once; any other is told what to run", async () => {
  const stage = await dashboardStage({ script, agents });
  const link = stage.link();
  const page = await openPage();
  await page.goto(stage.url);
  await page.getByRole("heading", { name: "You are not signed in" }).waitFor();
  await page.getByText("herdctl open").waitFor();

  await page.goto(link);
  await rowOf(page, "fixer").waitFor();
  expect(page.url()).toBe(`${stage.url}/`);
  expect(await page.title()).toBe("test · herdctl");

  const second = await openPage();
  await second.goto(link);
  await second.getByText("Not signed in").waitFor();
});

test("a run is seen as it begins, while it works and when it has ended, without a reload", async () => {
  const stage = await dashboardStage({ script, agents });
  const page = await stage.open();
  await rowOf(page, "fixer").getByText("has not run yet").waitFor();
  await rowOf(page, "reporter")
    .getByText(/^in 5\d min/)
    .waitFor();

  const { job } = await stage
    .fleet()
    .trigger({ trigger: "manual", agent: "fixer", prompt: "Slowly" });
  await rowOf(page, "fixer").getByText("sleep 2").waitFor();
  await rowOf(page, "fixer").getByText("running").waitFor();
  await stage.fleet().wait(job.id);
  await rowOf(page, "fixer").getByText("success").waitFor();
  await rowOf(page, "fixer").getByText("idle").waitFor();

  await page.locator(`[data-job="${job.id}"]`).hover();
  await page.getByRole("tooltip").getByText("completed").waitFor();
  await page.locator(`[data-job="${job.id}"]`).click();
  await page.waitForURL(`${stage.url}/jobs/${job.id}`);
});

test("while the fleet is away the page stays as it was, and it goes on by itself when it is back", async () => {
  const stage = await dashboardStage({ script, agents });
  const page = await stage.open();
  await rowOf(page, "fixer").waitFor();
  // Whatever is taken out of the page, or put in beside the bar, would be seen as a flicker.
  await page.evaluate(`window.moved = 0; new MutationObserver((seen) => {
    for (const { removedNodes, addedNodes } of seen)
      window.moved += [...removedNodes, ...addedNodes].filter(({ nodeType }) => nodeType === 1).length;
  }).observe(document.querySelector("main"), { childList: true, subtree: true });`);

  await stage.stop();
  const bar = page.getByRole("status").getByText("The fleet does not answer");
  await bar.waitFor();
  expect(await rowOf(page, "fixer").isVisible()).toBe(true);
  await stage.start();
  await bar.waitFor({ state: "detached" });
  expect(await page.evaluate("window.moved")).toBe(0);

  const { job } = await stage.fleet().trigger({ trigger: "manual", agent: "fixer" });
  await stage.fleet().wait(job.id);
  await rowOf(page, "fixer").getByText("success").waitFor();
});

test("many tabs share one stream: each hears of everything, also when the one that reads it is closed", async () => {
  const stage = await dashboardStage({ script, agents });
  const first = await stage.open();
  const others = await Promise.all(Array.from({ length: 7 }, () => first.context().newPage()));
  for (const page of others) await page.goto(stage.url);
  const hearOf = async (pages: Page[], agent: string) => {
    const { job } = await stage.fleet().trigger({ trigger: "manual", agent, prompt: "Go on." });
    await stage.fleet().wait(job.id);
    // The strip is asked for once; what comes later comes by the stream.
    for (const page of pages) await page.locator(`[data-job="${job.id}"]`).waitFor();
  };
  await hearOf([first, ...others], "fixer");
  await first.close();
  await hearOf(others, "reporter");
});

test("keys lead everywhere: the palette, g and a letter, j and k, and the search", async () => {
  const stage = await dashboardStage({ script, agents });
  const page = await stage.open();
  await rowOf(page, "fixer").waitFor();
  await page.keyboard.press("j");
  await page.keyboard.press("j");
  await page.keyboard.press("Enter");
  await page.waitForURL(`${stage.url}/agents/reporter`);
  await page.keyboard.press("g");
  await page.keyboard.press("i");
  await page.waitForURL(`${stage.url}/inbox`);

  await page.keyboard.press("Control+k");
  await page.getByRole("combobox", { name: "Go to" }).fill("fix");
  await page.keyboard.press("Enter");
  await page.waitForURL(`${stage.url}/agents/fixer`);

  await page.keyboard.press("g");
  await page.keyboard.press("f");
  await rowOf(page, "fixer").waitFor();
  await page.keyboard.press("/");
  await page.keyboard.type("report");
  await rowOf(page, "fixer").waitFor({ state: "detached" });
  expect(page.url()).toContain("q=report");
});

test("who may only look finds the controls switched off, and why", async () => {
  const stage = await dashboardStage({ script, agents });
  const page = await stage.open("/agents/fixer", { scope: "read" });
  const trigger = page.getByRole("button", { name: "Trigger" });
  await trigger.and(page.locator("[data-disabled]")).waitFor();
  expect(await trigger.getAttribute("title")).toContain("You are signed in to look only");
});

test("on a phone nothing sticks out, and dark is dark, also when it was chosen by hand", async () => {
  const stage = await dashboardStage({ script, agents });
  const small = await stage.open("/", { size: phone });
  await rowOf(small, "fixer").waitFor();
  for (const path of ["/", "/agents/fixer", "/agents/reporter?tab=schedules"]) {
    await small.goto(`${stage.url}${path}`);
    await small.locator("main h1").waitFor();
    expect(await small.evaluate("document.documentElement.scrollWidth")).toBe(phone.width);
  }
  const brightness = (page: Page): Promise<number> =>
    page.evaluate(
      "getComputedStyle(document.documentElement).backgroundColor.match(/\\d+/g).slice(0, 3).reduce((a, b) => a + Number(b), 0)",
    );
  expect(await brightness(small)).toBeGreaterThan(700);
  const dark = await stage.open("/", { scheme: "dark" });
  expect(await brightness(dark)).toBeLessThan(100);
  await dark.getByRole("button", { name: "Colours system" }).click();
  await dark.reload();
  await dark.getByRole("button", { name: "Colours light" }).waitFor();
  expect(await brightness(dark)).toBeGreaterThan(700);
});

test("nothing keeps anybody out of the fleet, the agent and the design, in dark and light", async () => {
  const stage = await dashboardStage({ script, agents });
  const { job } = await stage.fleet().trigger({ trigger: "manual", agent: "fixer" });
  await stage.fleet().wait(job.id);
  const paths = [
    "/",
    "/agents/fixer",
    "/agents/reporter?tab=schedules",
    "/agents/fixer?tab=sessions",
  ];
  const more = ["/agents/fixer?tab=configuration", "/agents/fixer?tab=security", "/design"];
  for (const scheme of sliceOf(["dark", "light"] as const, 1)) {
    const page = await stage.open("/", { scheme });
    for (const path of [...paths, ...more]) {
      await page.goto(`${stage.url}${path}`);
      await page.locator("main h1").waitFor();
      // The design shows it among its states.
      const loading = page.getByRole("status", { name: "Loading" });
      if (path !== "/design") await loading.waitFor({ state: "detached" });
      expect(await barriers(page), `${path} ${scheme}`).toEqual([]);
    }
  }
}, 120_000);
