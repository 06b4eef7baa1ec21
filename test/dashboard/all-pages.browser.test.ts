import { expect, test } from "vitest";
import { ensureChromium, type PageOptions, phoneSize } from "../support/chromium.ts";
import { waitUntil } from "../support/fleet-child-process.ts";
import { findAccessibilityViolations } from "./accessibility.ts";
import { startDashboardHarness } from "./dashboard-harness.ts";

await ensureChromium();

const agents = `
  - name: builder
    description: Builds what others plan
    runtime: cli
    permission_mode: acceptEdits
    allowed_tools: ["Bash(seq *)"]
    default_prompt: build
    hooks: { after_run: [{ type: shell, command: "exit 3" }] }
    schedules:
      nightly: { type: cron, cron: "0 3 * * *", prompt: build }
  - { name: careful, runtime: cli, permission_mode: default, default_prompt: ask first }
  - { name: idle }`;

const bash = (command: string) => ({ name: "Bash", input: { command } });
const script = {
  rules: [
    {
      match: { prompt: "build" },
      replies: [{ text: "I **look** first.", tools: [bash("seq 1 40")] }, "All is built."],
    },
    { match: { prompt: "ask" }, replies: [{ text: "May I?", tools: [bash("touch x")] }, "Done."] },
  ],
};

const looks: PageOptions[] = [
  { scheme: "light" },
  { scheme: "dark" },
  { scheme: "light", size: phoneSize },
];

test("no page has a serious accessibility violation or is wider than the screen, in light, in dark and on a phone", async () => {
  const harness = await startDashboardHarness({ script, agents });
  const fleet = harness.fleet();
  await fleet.tokens.create({ name: "ci", scope: "trigger" });
  const { job } = await fleet.jobs.trigger({ agent: "builder", conversation: true });
  await fleet.jobs.wait(job.id);
  const { job: asking } = await fleet.jobs.trigger({ agent: "careful" });
  await waitUntil("a request", async () => (await fleet.approvals.list()).length > 0);
  const paths = [
    "/",
    "/?group=fleet&sort=cost",
    ...["", "schedules", "sessions", "configuration", "security", "edit"].map(
      (tab) => `/agents/builder${tab && `?tab=${tab}`}`,
    ),
    "/agents/idle",
    "/new-agent",
    `/jobs/${job.id}`,
    `/jobs/${job.id}?view=waterfall`,
    `/jobs/${job.id}?view=raw`,
    `/jobs/${asking.id}`,
    "/jobs/job-none",
    "/inbox",
    "/costs",
    ...["jobs", "deliveries", "due", "hooks"].map((tab) => `/activity?tab=${tab}`),
    "/search?q=built",
    "/access",
    "/audit",
    "/settings",
    "/chat",
    `/chat?agent=builder&with=${job.id}`,
    "/none",
  ];
  const problems: string[] = [];
  for (const look of looks) {
    const page = await harness.openPage("/", look);
    for (const path of paths) {
      await page.goto(harness.url + path);
      await page.locator("main :is(h1, [role=alert], p)").first().waitFor();
      await expect.poll(() => page.getByRole("status", { name: "Loading" }).count()).toBe(0);
      const place = `${path} ${look.scheme} ${look.size?.width ?? ""}`;
      const violations = await findAccessibilityViolations(page);
      problems.push(...violations.map((violation) => `${place}: ${violation}`));
      const overflow = await page.evaluate("document.documentElement.scrollWidth - innerWidth");
      if (Number(overflow) > 0) problems.push(`${place}: ${overflow} px too wide`);
      if (!/ · /.test(await page.title())) problems.push(`${place}: title ${await page.title()}`);
    }
    await page.context().browser()?.close();
  }
  expect(problems).toEqual([]);
}, 400_000);
