import type { Page } from "playwright-core";
import { beforeAll, expect, test } from "vitest";
import { ensureChromium } from "../support/chromium.ts";
import { startDashboardHarness } from "./dashboard-harness.ts";

beforeAll(ensureChromium, 600_000);

const agents = "  - { name: one, runtime: cli }";

/** Delivers a message to the service worker, as the push service of the browser does. */
async function deliverPush(page: Page, data: object): Promise<void> {
  const client = await page.context().newCDPSession(page);
  const registrationId = new Promise<string>((resolve) =>
    client.on("ServiceWorker.workerVersionUpdated", ({ versions }) => {
      const active = versions.find(({ status }) => status === "activated");
      if (active) resolve(active.registrationId);
    }),
  );
  await client.send("ServiceWorker.enable");
  await client.send("ServiceWorker.deliverPushMessage", {
    origin: new URL(page.url()).origin,
    registrationId: await registrationId,
    data: JSON.stringify(data),
  });
}

/** Runs in the page. */
const readNotifications = `navigator.serviceWorker.ready
  .then((registration) => registration.getNotifications())
  .then((all) => all.map(({ title, body, tag, data }) => ({ title, body, tag, data })))`;

test("shows a pushed question as a notification of the browser", async () => {
  const { openPage, url } = await startDashboardHarness({ script: {}, agents });
  const page = await openPage("/settings");
  await page.context().grantPermissions(["notifications"], { origin: url });
  await page.evaluate("navigator.serviceWorker.ready.then(() => undefined)");
  const title = "one wants to use Bash";
  await deliverPush(page, { title, body: "npm test", approval: "approval-1", url: null });
  const shown = () => page.evaluate(readNotifications);
  await expect
    .poll(shown)
    .toEqual([{ title, body: "npm test", tag: "approval-1", data: { path: "/inbox" } }]);
});
