import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ensureChromium } from "../support/chromium.ts";
import { startDashboardHarness } from "./dashboard-harness.ts";

await ensureChromium();

const agents = `  # Reads pull requests.
  - name: reader
    description: Reads # aloud
    default_prompt: Read.`;

test("adds an agent with a schedule, sees it run, edits it, and keeps the comments of the file", async () => {
  const harness = await startDashboardHarness({ script: { default: "Done." }, agents });
  const file = join(harness.folder, "herdctl.yaml");
  const page = await harness.openPage("/new-agent");
  const changes = page.getByRole("region", { name: "Changes to the file" });
  await page.getByLabel("Agent name").fill("ticker");
  await page.getByLabel("Schedule name").fill("often");
  await page.getByRole("button", { name: "Add schedule" }).click();
  await page.getByLabel("Every").fill("soon");
  await page.getByText(/soon.* is not a duration/).waitFor();
  await page.getByLabel("Every").fill("2s");
  await page.getByLabel("Prompt", { exact: true }).fill("Tick.");
  await page.getByRole("region", { name: "Next due times of often" }).waitFor();
  await changes.getByText("every: 2s").waitFor();
  await page.getByRole("button", { name: "Add agent" }).click();
  await page.waitForURL(`${harness.url}/agents/ticker`);

  await page.getByRole("region", { name: "Latest jobs" }).getByText("often").first().waitFor();
  const { jobs } = await harness.fleet().jobs.list({ agent: "ticker", limit: 1 });
  expect(jobs[0]).toMatchObject({ schedule: "often", prompt: "Tick." });

  await page.goto(`${harness.url}/agents/reader?tab=edit`);
  await page.getByLabel("Description").fill("Reads quietly");
  await changes.getByText("description: Reads quietly # aloud").waitFor();
  // Someone else changes the file before the edit is written.
  const save = page.getByRole("button", { name: "Save" });
  await expect.poll(() => save.isEnabled()).toBe(true);
  writeFileSync(file, `${readFileSync(file, "utf8")}# The end.\n`);
  await save.click();
  await page.getByText("has changed").waitFor();
  await page.getByRole("button", { name: "Try again" }).click();
  await expect.poll(() => save.isEnabled()).toBe(true);
  await save.click();
  await page.getByRole("tab", { name: "Configuration", selected: true }).waitFor();

  const text = readFileSync(file, "utf8");
  expect(text).toContain("  # Reads pull requests.\n  - name: reader\n");
  expect(text).toContain("    description: Reads quietly # aloud\n");
  expect(text).toContain("# The end.\n");
  const { records } = await harness.fleet().audit.list({ action: "config.edit", limit: 10 });
  expect(records.map(({ target, outcome }) => [target, outcome])).toEqual([
    ["reader", "ok"],
    ["reader", "refused"],
    ["ticker", "ok"],
  ]);
}, 120_000);

test("offers no edits to a reader", async () => {
  const harness = await startDashboardHarness({ script: { default: "Done." }, agents });
  const page = await harness.openPage("/agents/reader?tab=edit", { scope: "read" });
  await page.getByRole("tab", { name: "Security" }).waitFor();
  expect(await page.getByRole("tab", { name: "Edit" }).count()).toBe(0);
  const status = await page.evaluate(`fetch("/v1/config/edit", {
    method: "POST", headers: { "content-type": "application/json" },
    body: JSON.stringify({ agent: "reader", changes: [], fingerprint: "" }),
  }).then((response) => response.status)`);
  expect(status).toBe(403);
});
