import { copyFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ensureChromium } from "../support/chromium.ts";
import { startFleetInProcess } from "../support/in-process-fleet.ts";
import { createTestDatabase, sharedPostgresAddress } from "../support/postgres.ts";
import { tempFolderWith } from "../support/temp-folder.ts";
import { findAccessibilityViolations } from "./accessibility.ts";
import { startDashboardHarness } from "./dashboard-harness.ts";

await ensureChromium();
await sharedPostgresAddress();

const waitOptions = { timeout: 60_000 };
const longTimeout = { timeout: 180_000 };

test(
  "hides the nodes page of a fleet without a shared store and explains why",
  longTimeout,
  async () => {
    const harness = await startDashboardHarness({ script: {}, agents: "  - name: coder" });
    const page = await harness.openPage("/nodes");
    await page.getByText("This fleet runs on one machine").waitFor(waitOptions);
    await page.getByText("herdctl store migrate").waitFor(waitOptions);
    expect(await page.getByRole("link", { name: "Nodes" }).count()).toBe(0);
    expect(await findAccessibilityViolations(page)).toEqual([]);
  },
);

test("shows nodes as they join, work and leave without a reload", longTimeout, async () => {
  const env = { HERDCTL_STORE: await createTestDatabase() };
  const harness = await startDashboardHarness({
    ...{ script: {}, env, node: { name: "desk", labels: ["eu"] } },
    agents: "  - name: coder\nstore: ${HERDCTL_STORE}",
  });
  const page = await harness.openPage("/");
  await page.getByRole("link", { name: "Nodes" }).click(waitOptions);
  const row = (name: RegExp) => page.getByRole("row", { name });
  await row(/^desk · this node Live all Leader 0 of 10 .* eu$/).waitFor(waitOptions);
  await page.getByRole("heading", { name: "1 live node" }).waitFor(waitOptions);

  const folder = tempFolderWith({});
  copyFileSync(join(harness.folder, "herdctl.yaml"), join(folder, "herdctl.yaml"));
  const rack = await startFleetInProcess(harness.harness, join(folder, "herdctl.yaml"), {
    env: { ...harness.harness.env, ...env },
    node: { name: "rack", role: "worker", labels: ["gpu"], capacity: 2 },
  });
  await row(/^rack Live worker 0 of 2 .* gpu$/).waitFor(waitOptions);
  await page.getByRole("heading", { name: "2 live nodes" }).waitFor(waitOptions);
  expect(await findAccessibilityViolations(page)).toEqual([]);

  await rack.shutdown({ drainMs: 0 });
  await row(/^rack Stopped/).waitFor(waitOptions);
  await page.getByRole("heading", { name: "1 live node" }).waitFor(waitOptions);
});
