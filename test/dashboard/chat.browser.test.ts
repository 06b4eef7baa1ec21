import { expect, test } from "vitest";
import { ensureChromium } from "../support/chromium.ts";
import { waitUntil } from "../support/fleet-child-process.ts";
import { findAccessibilityViolations } from "./accessibility.ts";
import { startDashboardHarness } from "./dashboard-harness.ts";

await ensureChromium();

const waitOptions = { timeout: 60_000 };
const longTimeout = { timeout: 180_000 };

test(
  "runs two messages to an agent as two jobs in one session and shows them after a reload",
  longTimeout,
  async () => {
    const harness = await startDashboardHarness({
      script: {
        rules: [{ match: { prompt: "my name" }, reply: "Your name is **Ada**." }],
        default: "Good to meet you.",
      },
      agents: "  - { name: coder, session: { mode: persistent } }",
    });
    const page = await harness.openPage("/chat?agent=coder&with=new");
    const field = page.getByRole("textbox", { name: "Message coder" });
    const log = page.getByRole("log", { name: "Conversation with coder" });
    const ends = log.getByRole("link", { name: "Details" });

    await field.fill("I am Ada.");
    await field.press("Enter");
    await log.getByText("Good to meet you.").waitFor(waitOptions);
    await ends.first().waitFor(waitOptions);
    await field.fill("What is my name?");
    await page.getByRole("button", { name: "Send" }).click();
    await log.getByText("Your name is Ada.").waitFor(waitOptions);
    await ends.nth(1).waitFor(waitOptions);

    const { jobs } = await harness.fleet().jobs.list({ limit: 10 });
    const [second, first] = jobs;
    expect(jobs).toHaveLength(2);
    expect(second).toMatchObject({ prompt: "What is my name?", trigger_type: "chat" });
    expect(second?.resumed_from).toBe(first?.session_id);
    expect(second?.session_id).toBe(first?.session_id);

    const address = page.url();
    await page.reload();
    await log.getByText("Good to meet you.").waitFor(waitOptions);
    await log.getByText("Your name is Ada.").waitFor(waitOptions);
    expect(page.url()).toBe(address);
    expect(await log.getByRole("article").count()).toBe(2);
    expect(await findAccessibilityViolations(page)).toEqual([]);
  },
);

test("shows an answer while it is streamed, and stops it", longTimeout, async () => {
  const words = Array.from({ length: 400 }, (_, at) => `word-${at}`).join(" ");
  const harness = await startDashboardHarness({
    script: { rules: [], default: { text: words, delay: { between: "200ms" } } },
    agents: "  - name: coder",
  });
  const page = await harness.openPage("/chat?agent=coder&with=new");
  const field = page.getByRole("textbox", { name: "Message coder" });
  const log = page.getByRole("log", { name: "Conversation with coder" });
  await field.fill("Speak.");
  await field.press("Enter");
  await log.getByText("word-3 ").waitFor(waitOptions);
  const { jobs } = await harness.fleet().jobs.list({ limit: 1 });
  expect(jobs[0]?.status).toBe("running");
  await page.getByRole("button", { name: "Stop" }).click();
  await log.getByText("cancelled").first().waitFor(waitOptions);
  const ended = await waitUntil("the job to end", async () => {
    const found = await harness.fleet().jobs.get(jobs[0]?.id ?? "");
    return found?.job.finished_at !== null && found?.job;
  });
  expect(ended.outcome?.code).toBe("cancelled");
  await page.getByRole("button", { name: "Send" }).waitFor(waitOptions);
});
