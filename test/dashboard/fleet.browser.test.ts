import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { ensureChromium, openPage, phoneSize } from "../support/chromium.ts";
import { testSubset } from "../support/test-subset.ts";
import { findAccessibilityViolations } from "./accessibility.ts";
import { startDashboardHarness } from "./dashboard-harness.ts";

await ensureChromium();

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

test("signs a browser in by its link once, and shows any other the command to run", async () => {
  const harness = await startDashboardHarness({ script, agents });
  const link = harness.loginLink();
  const page = await openPage();
  await page.goto(harness.url);
  await page.getByRole("heading", { name: "You are not signed in" }).waitFor();
  await page.getByText("herdctl open").waitFor();

  await page.goto(link);
  await rowOf(page, "fixer").waitFor();
  expect(page.url()).toBe(`${harness.url}/`);
  expect(await page.title()).toBe("test · herdctl");

  const second = await openPage();
  await second.goto(link);
  await second.getByText("Not signed in").waitFor();
});

test("shows a run at its start, during its work and at its end without a reload", async () => {
  const harness = await startDashboardHarness({ script, agents });
  const page = await harness.openPage();
  await rowOf(page, "fixer").getByText("No runs yet").waitFor();
  await rowOf(page, "reporter")
    .getByText(/^in 5\d minutes/)
    .waitFor();

  const { job } = await harness.fleet().jobs.trigger({ agent: "fixer", prompt: "Slowly" });
  await rowOf(page, "fixer").getByText("sleep 2").waitFor();
  await rowOf(page, "fixer").getByText("running").waitFor();
  await harness.fleet().jobs.wait(job.id);
  await rowOf(page, "fixer").getByText("success").waitFor();
  await rowOf(page, "fixer").getByText("idle").waitFor();

  await page.locator(`[data-job="${job.id}"]`).hover();
  await page.getByRole("tooltip").getByText("Success").waitFor();
  await page.locator(`[data-job="${job.id}"]`).click();
  await page.waitForURL(`${harness.url}/jobs/${job.id}`);
});

test("keeps the page while the fleet is away and continues when it is back", async () => {
  const harness = await startDashboardHarness({ script, agents });
  const page = await harness.openPage();
  await rowOf(page, "fixer").waitFor();
  // Counts elements that are removed or added, except the bar: these would flicker.
  await page.evaluate(`window.moved = 0; new MutationObserver((seen) => {
    for (const { removedNodes, addedNodes } of seen)
      window.moved += [...removedNodes, ...addedNodes].filter(({ nodeType }) => nodeType === 1).length;
  }).observe(document.querySelector("main"), { childList: true, subtree: true });`);

  await harness.stop();
  const bar = page.getByRole("status").getByText("The fleet is not responding");
  await bar.waitFor();
  expect(await rowOf(page, "fixer").isVisible()).toBe(true);
  await harness.start();
  await bar.waitFor({ state: "detached" });
  expect(await page.evaluate("window.moved")).toBe(0);

  const { job } = await harness.fleet().jobs.trigger({ agent: "fixer" });
  await harness.fleet().jobs.wait(job.id);
  await rowOf(page, "fixer").getByText("success").waitFor();
});

test("shares one stream between tabs and keeps it when the tab that reads it is closed", async () => {
  const harness = await startDashboardHarness({ script, agents });
  const first = await harness.openPage();
  const others = await Promise.all(Array.from({ length: 7 }, () => first.context().newPage()));
  for (const page of others) await page.goto(harness.url);
  const hearOf = async (pages: Page[], agent: string) => {
    const { job } = await harness.fleet().jobs.trigger({ agent, prompt: "Go on." });
    await harness.fleet().jobs.wait(job.id);
    // The strip is fetched once; later updates come from the stream.
    for (const page of pages) await page.locator(`[data-job="${job.id}"]`).waitFor();
  };
  await hearOf([first, ...others], "fixer");
  await first.close();
  await hearOf(others, "reporter");
});

test("navigates by keyboard: the palette, g and a letter, j and k, and the search", async () => {
  const harness = await startDashboardHarness({ script, agents });
  const page = await harness.openPage();
  await rowOf(page, "fixer").waitFor();
  await page.keyboard.press("j");
  await page.keyboard.press("j");
  await page.keyboard.press("Enter");
  await page.waitForURL(`${harness.url}/agents/reporter`);
  await page.keyboard.press("g");
  await page.keyboard.press("i");
  await page.waitForURL(`${harness.url}/inbox`);

  await page.keyboard.press("Control+k");
  await page.getByRole("combobox", { name: "Go to" }).fill("fix");
  await page.keyboard.press("Enter");
  await page.waitForURL(`${harness.url}/agents/fixer`);

  await page.keyboard.press("?");
  await page.getByRole("dialog", { name: "Keyboard shortcuts" }).getByText("Ctrl+K").waitFor();
  await page.keyboard.press("Escape");
  await page.keyboard.press("g");
  await page.keyboard.press("f");
  await rowOf(page, "fixer").waitFor();
  await page.keyboard.press("/");
  await page.keyboard.type("report");
  await rowOf(page, "fixer").waitFor({ state: "detached" });
  expect(page.url()).toContain("q=report");
});

test("disables the controls for a reader and gives the reason", async () => {
  const harness = await startDashboardHarness({ script, agents });
  const page = await harness.openPage("/agents/fixer", { scope: "read" });
  const trigger = page.getByRole("button", { name: "Trigger" });
  await trigger.and(page.locator("[data-disabled]")).waitFor();
  expect(await trigger.getAttribute("title")).toContain("You have read-only access");
});

test("fits a phone, and follows the dark scheme of the system and of the user", async () => {
  const harness = await startDashboardHarness({ script, agents });
  const small = await harness.openPage("/", { size: phoneSize });
  await rowOf(small, "fixer").waitFor();
  for (const path of ["/", "/agents/fixer", "/agents/reporter?tab=schedules"]) {
    await small.goto(`${harness.url}${path}`);
    await small.locator("main h1").waitFor();
    expect(await small.evaluate("document.documentElement.scrollWidth")).toBe(phoneSize.width);
  }
  const brightness = (page: Page): Promise<number> =>
    page.evaluate(
      "getComputedStyle(document.documentElement).backgroundColor.match(/\\d+/g).slice(0, 3).reduce((a, b) => a + Number(b), 0)",
    );
  expect(await brightness(small)).toBeGreaterThan(700);
  const dark = await harness.openPage("/", { scheme: "dark" });
  expect(await brightness(dark)).toBeLessThan(100);
  await dark.getByRole("button", { name: "Theme: System" }).click();
  await dark.reload();
  await dark.getByRole("button", { name: "Theme: Light" }).waitFor();
  expect(await brightness(dark)).toBeGreaterThan(700);
});

test("has no accessibility violations on the fleet, agent and design pages in both schemes", async () => {
  const harness = await startDashboardHarness({ script, agents });
  const { job } = await harness.fleet().jobs.trigger({ agent: "fixer" });
  await harness.fleet().jobs.wait(job.id);
  const paths = [
    "/",
    "/agents/fixer",
    "/agents/reporter?tab=schedules",
    "/agents/fixer?tab=sessions",
  ];
  const more = ["/agents/fixer?tab=configuration", "/agents/fixer?tab=security", "/design"];
  for (const scheme of testSubset(["dark", "light"] as const, 1)) {
    const page = await harness.openPage("/", { scheme });
    for (const path of [...paths, ...more]) {
      await page.goto(`${harness.url}${path}`);
      await page.locator("main h1").waitFor();
      // The design page shows a loading indicator among its examples.
      const loading = page.getByRole("status", { name: "Loading" });
      if (path !== "/design") await loading.waitFor({ state: "detached" });
      expect(await findAccessibilityViolations(page), `${path} ${scheme}`).toEqual([]);
    }
  }
}, 120_000);
