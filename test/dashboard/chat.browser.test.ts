import { expect, test } from "vitest";
import { chromiumIsThere } from "../support/chromium.ts";
import { until } from "../support/fleet-program.ts";
import { barriers } from "./axe.ts";
import { dashboardStage } from "./stage.ts";

await chromiumIsThere();

const patience = { timeout: 60_000 };
const long = { timeout: 180_000 };

test(
  "two messages to an agent are two jobs in one session, and a reload shows them again",
  long,
  async () => {
    const on = await dashboardStage({
      script: {
        rules: [{ match: { prompt: "my name" }, reply: "Your name is **Ada**." }],
        default: "Good to meet you.",
      },
      agents: "  - { name: coder, session: { mode: persistent } }",
    });
    const page = await on.open("/chat?agent=coder&with=new");
    const field = page.getByRole("textbox", { name: "Say something to coder" });
    const log = page.getByRole("log", { name: "Conversation with coder" });
    const ends = log.getByRole("link", { name: "Details" });

    await field.fill("I am Ada.");
    await field.press("Enter");
    await log.getByText("Good to meet you.").waitFor(patience);
    await ends.first().waitFor(patience);
    await field.fill("What is my name?");
    await page.getByRole("button", { name: "Send" }).click();
    await log.getByText("Your name is Ada.").waitFor(patience);
    await ends.nth(1).waitFor(patience);

    const { jobs } = await on.fleet().jobs({ limit: 10 });
    const [second, first] = jobs;
    expect(jobs).toHaveLength(2);
    expect(second).toMatchObject({ prompt: "What is my name?", trigger_type: "chat" });
    expect(second?.resumed_from).toBe(first?.session_id);
    expect(second?.session_id).toBe(first?.session_id);

    const address = page.url();
    await page.reload();
    await log.getByText("Good to meet you.").waitFor(patience);
    await log.getByText("Your name is Ada.").waitFor(patience);
    expect(page.url()).toBe(address);
    expect(await log.getByRole("article").count()).toBe(2);
    expect(await barriers(page)).toEqual([]);
  },
);

test("an answer is read while it is spoken, and can be stopped", long, async () => {
  const words = Array.from({ length: 400 }, (_, at) => `word-${at}`).join(" ");
  const on = await dashboardStage({
    script: { rules: [], default: { text: words, delay: { between: "200ms" } } },
    agents: "  - name: coder",
  });
  const page = await on.open("/chat?agent=coder&with=new");
  const field = page.getByRole("textbox", { name: "Say something to coder" });
  const log = page.getByRole("log", { name: "Conversation with coder" });
  await field.fill("Speak.");
  await field.press("Enter");
  await log.getByText("word-3 ").waitFor(patience);
  const { jobs } = await on.fleet().jobs({ limit: 1 });
  expect(jobs[0]?.status).toBe("running");
  await page.getByRole("button", { name: "Stop" }).click();
  await log.getByText("cancelled").first().waitFor(patience);
  const ended = await until("the job to end", async () => {
    const found = await on.fleet().job(jobs[0]?.id ?? "");
    return found?.job.finished_at !== null && found?.job;
  });
  expect(ended.outcome?.code).toBe("cancelled");
  await page.getByRole("button", { name: "Send" }).waitFor(patience);
});
