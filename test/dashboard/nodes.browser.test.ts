import { copyFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { chromiumIsThere } from "../support/chromium.ts";
import { startFleet } from "../support/fleet-process.ts";
import { folderWith } from "../support/folder.ts";
import { testDatabase, testServer } from "../support/postgres.ts";
import { barriers } from "./axe.ts";
import { dashboardStage } from "./stage.ts";

await chromiumIsThere();
await testServer();

const patience = { timeout: 60_000 };
const long = { timeout: 180_000 };

test(
  "a fleet with its own state has no such page among the others, and says why",
  long,
  async () => {
    const on = await dashboardStage({ script: {}, agents: "  - name: coder" });
    const page = await on.open("/nodes");
    await page.getByText("This fleet runs on one machine").waitFor(patience);
    await page.getByText("herdctl store migrate").waitFor(patience);
    expect(await page.getByRole("link", { name: "Nodes" }).count()).toBe(0);
    expect(await barriers(page)).toEqual([]);
  },
);

test("nodes are shown as they come, work and go, without a word of anybody", long, async () => {
  const env = { HERDCTL_STORE: await testDatabase() };
  const on = await dashboardStage({
    ...{ script: {}, env, node: { name: "desk", labels: ["eu"] } },
    agents: "  - name: coder\nstore: ${HERDCTL_STORE}",
  });
  const page = await on.open("/");
  await page.getByRole("link", { name: "Nodes" }).click(patience);
  const row = (name: RegExp) => page.getByRole("row", { name });
  await row(/^desk · this one live all leads 0 of 10 .* eu$/).waitFor(patience);
  await page.getByRole("heading", { name: "1 live" }).waitFor(patience);

  const folder = folderWith({});
  copyFileSync(join(on.folder, "herdctl.yaml"), join(folder, "herdctl.yaml"));
  const rack = await startFleet(on.on, join(folder, "herdctl.yaml"), {
    env: { ...on.on.env, ...env },
    node: { name: "rack", role: "worker", labels: ["gpu"], capacity: 2 },
  });
  await row(/^rack live worker 0 of 2 .* gpu$/).waitFor(patience);
  await page.getByRole("heading", { name: "2 live" }).waitFor(patience);
  expect(await barriers(page)).toEqual([]);

  await rack.stop({ drainMs: 0 });
  await row(/^rack stopped/).waitFor(patience);
  await page.getByRole("heading", { name: "1 live" }).waitFor(patience);
});
