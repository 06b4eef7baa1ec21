import type { Actor } from "@herdctl/core/internal";
import { beforeAll, expect, test } from "vitest";
import { ensureChromium, phoneSize } from "../support/chromium.ts";
import { findAccessibilityViolations } from "./accessibility.ts";
import { startDashboardHarness } from "./dashboard-harness.ts";

beforeAll(ensureChromium, 600_000);

const waitOptions = { timeout: 60_000 };
const longTimeout = { timeout: 180_000 };

async function auditedFleet() {
  const harness = await startDashboardHarness({ script: {}, agents: "  - name: coder" });
  const by = (identity: string, origin: string, more: Partial<Actor> = {}) =>
    harness.fleet().as({ identity, origin, ...more });
  await by("user:kim", "socket").agents.pause("coder");
  const { job } = await by("token:ci", "192.0.2.7").jobs.trigger({
    agent: "coder",
    prompt: "go",
  });
  const note = "the boss\u202e)";
  await by("token:ci", "192.0.2.7", { note })
    .jobs.trigger({ agent: "nobody", prompt: "go" })
    .catch(() => undefined);
  return { on: harness, job };
}

test("shows who did what from where, and how it ended", longTimeout, async () => {
  const { on, job } = await auditedFleet();
  const page = await on.openPage("/audit");
  const table = page.getByRole("table", { name: "Audit log" });
  const row = (name: RegExp) => table.getByRole("row", { name });
  await row(/ user:kim socket agent\.pause coder ok/).waitFor(waitOptions);
  await row(/ token:ci 192\.0\.2\.7 job\.trigger – refused .*nobody.*the boss\\u202e\)/).waitFor();
  await row(/ login:\w{8} 127\.0\.0\.1 login\.create – ok .*user:test/).waitFor();
  expect(await findAccessibilityViolations(page)).toEqual([]);

  await page.getByRole("combobox", { name: "action" }).selectOption("agent.pause");
  await page.waitForURL("**/audit?action=agent.pause", waitOptions);
  await row(/token:ci/)
    .first()
    .waitFor({ state: "detached", ...waitOptions });
  expect(await table.getByRole("row").count()).toBe(2);
  await page.getByRole("button", { name: "Clear" }).click();
  await page.getByRole("textbox", { name: "identity" }).fill("token:ci");
  await row(/user:kim/)
    .first()
    .waitFor({ state: "detached", ...waitOptions });
  await page.goto(`${on.url}/audit?action=login.end_all`);
  await page.getByText("No records match these filters.").waitFor(waitOptions);

  await page.goto(`${on.url}/audit`);
  await table.getByRole("link", { name: job.id }).click(waitOptions);
  await page.waitForURL(`**/jobs/${job.id}`, waitOptions);
});

test(
  "shows every field of a record on a phone without scrolling sideways",
  longTimeout,
  async () => {
    const { on } = await auditedFleet();
    const page = await on.openPage("/audit", { size: phoneSize, scheme: "dark" });
    const refused = page
      .getByRole("list", { name: "Audit log" })
      .getByRole("listitem")
      .filter({ hasText: "refused" });
    await refused.waitFor(waitOptions);
    const box = await refused.boundingBox();
    expect(box?.width).toBeLessThan(phoneSize.width);
    for (const text of ["token:ci", "job.trigger", "from 192.0.2.7", "agent nobody"]) {
      const field = await refused.getByText(text).boundingBox();
      expect((field?.x ?? 0) + (field?.width ?? phoneSize.width)).toBeLessThan(phoneSize.width);
    }
    expect(await findAccessibilityViolations(page)).toEqual([]);
  },
);

test("signs out all browsers, and shows no records to a reader", longTimeout, async () => {
  const { on } = await auditedFleet();
  const reader = await on.openPage("/audit", { scope: "read" });
  await reader.getByText("Admin access required").waitFor(waitOptions);
  expect(await reader.getByRole("button", { name: /Sign out (all|everywhere)/ }).count()).toBe(0);
  expect(await reader.getByText("user:kim").count()).toBe(0);

  const page = await on.openPage("/audit");
  await page.getByRole("button", { name: "Sign out everywhere" }).click(waitOptions);
  const dialog = page.getByRole("dialog", { name: "Sign out all browsers?" });
  await dialog.getByText("read from 127.0.0.1").waitFor(waitOptions);
  await dialog.getByRole("button", { name: "Sign out everywhere" }).click();
  await dialog.waitFor({ state: "detached", ...waitOptions });
  const cookies = await page.context().cookies();
  expect(await on.fleet().logins.list()).toEqual([]);
  const headers = { cookie: cookies.map(({ name, value }) => `${name}=${value}`).join("; ") };
  expect((await fetch(`${on.url}/v1/audit`, { headers })).status).toBe(401);
});
