import { readFileSync } from "node:fs";
import type { Job } from "@herdctl/protocol";
import type { Page } from "playwright-core";
import { beforeAll, expect, test } from "vitest";
import { ensureChromium, phoneSize } from "../support/chromium.ts";
import { findAccessibilityViolations } from "./accessibility.ts";
import { type DashboardHarness, startDashboardHarness } from "./dashboard-harness.ts";

beforeAll(ensureChromium, 600_000);

const agents = "  - { name: coder, runtime: cli }\n  - { name: helper, runtime: cli }";
const bash = (command: string) => ({ name: "Bash", input: { command, description: "Do it" } });

/** Markup that would run if the page treated an agent's text as HTML. */
const maliciousMarkup = `<img src=x onerror="window.hurt=1"><script>window.hurt=1</script>`;

const script = {
  rules: [
    {
      match: { prompt: "hang" },
      reply: "I begin with the first of many words, and then nothing more is ever heard of me.",
      fault: { stall: { events: 4 } },
    },
    {
      match: { prompt: "work" },
      replies: [
        { text: "First I look around.", tools: [bash("echo seen")] },
        { text: "Then I try.", tools: [bash("echo bad >&2; exit 3")] },
        "All is done.",
      ],
    },
    {
      match: { prompt: "evil" },
      replies: [
        {
          text: `${maliciousMarkup} [press me](javascript:window.hurt=1)`,
          tools: [
            bash(`touch '${maliciousMarkup.replaceAll("/", "")}'; echo '${maliciousMarkup}'; ls`),
          ],
        },
        `done ${maliciousMarkup}`,
      ],
    },
  ],
  default: "A plain answer.",
};

async function startJobHarness(): Promise<DashboardHarness> {
  return startDashboardHarness({ script, agents });
}

async function startJob(harness: DashboardHarness, prompt: string): Promise<Job> {
  const request = { agent: "coder", prompt, stream: true };
  return (await harness.fleet().jobs.trigger(request)).job;
}

async function runJobToEnd(harness: DashboardHarness, prompt: string): Promise<Job> {
  return harness.fleet().jobs.wait((await startJob(harness, prompt)).id);
}

const conversation = (page: Page) => page.getByRole("log", { name: "Conversation" });
const waterfall = (page: Page) => page.getByRole("region", { name: "Waterfall" });

test("shows an agent's text while it is streamed, and cancels the job from the page", async () => {
  const harness = await startJobHarness();
  const { id } = await startJob(harness, "hang");
  const page = await harness.openPage(`/jobs/${id}`);
  await conversation(page).getByText("I begin with the first of many").waitFor();
  expect((await harness.fleet().jobs.get(id))?.job.status).toBe("running");

  await page.getByRole("button", { name: "Cancel" }).click();
  await page.getByRole("button", { name: "Cancel job" }).click();
  await page.getByRole("heading", { name: "coder" }).getByText("cancelled").waitFor();
  expect((await harness.fleet().jobs.wait(id)).outcome?.code).toBe("cancelled");
  expect(await page.getByRole("button", { name: "Cancel" }).count()).toBe(0);
});

test("shows conversation and waterfall together: turns, tools, errors, search, raw events", async () => {
  const harness = await startJobHarness();
  const { id } = await startJob(harness, "work");
  const page = await harness.openPage(`/jobs/${id}`);
  const log = conversation(page);
  await log.getByText("All is done.").waitFor();
  await log.getByText(/^Done/).waitFor();
  await log.getByText(/3 turns .* \$0\.\d+/).waitFor();
  expect(await waterfall(page).getByRole("button").allTextContents()).toEqual([
    "Fit to view",
    expect.stringMatching(/^Queue/),
    expect.stringMatching(/^Start/),
    expect.stringMatching(/^Turn 1First I look around\..*API/),
    expect.stringMatching(/^Bashecho seen.*took/),
    expect.stringMatching(/^Turn 2Then I try\./),
    expect.stringMatching(/^Bashecho bad/),
    expect.stringMatching(/^Turn 3/),
  ]);

  await page.getByRole("button", { name: "Next error" }).click();
  await page.getByText("1 of 1 error").waitFor();
  await log.getByRole("button", { name: /Bash.*Failed/ }).click();
  await log.getByRole("region", { name: "Output" }).getByText("bad").waitFor();

  await page.getByRole("searchbox", { name: "Search in this job" }).fill("LOOK around");
  await page.getByText("1 match").waitFor();

  await page.getByRole("button", { name: "Raw events" }).click();
  const raw = page.getByRole("log", { name: "Raw events" });
  await raw.getByRole("button", { name: /1 *system init/ }).click();
  await page.getByRole("region", { name: "Event 1" }).getByText('"subtype": "init"').waitFor();
  expect(await findAccessibilityViolations(page)).toEqual([]);
});

test("forks a session after the chosen message and shows the new job", async () => {
  const harness = await startJobHarness();
  const { id } = await runJobToEnd(harness, "work");
  const page = await harness.openPage(`/jobs/${id}`);
  const first = conversation(page).locator("[data-key]", { hasText: "First I look around." });
  await first.hover();
  await first.getByRole("button", { name: "Fork from here" }).click();
  await page.getByRole("textbox", { name: "Prompt" }).fill("Another way, please");
  await page.getByRole("button", { name: "Fork", exact: true }).last().click();

  await conversation(page).getByText("A plain answer.").waitFor();
  await page.getByText("Fork of session").waitFor();
  const forked = await harness
    .fleet()
    .jobs.get(new URL(page.url()).pathname.split("/").at(-1) ?? "");
  expect(forked?.job).toMatchObject({ prompt: "Another way, please", agent: "coder" });
  const known = JSON.stringify(harness.harness.rehearsal.ledger.main.at(-1)?.body);
  expect(known).toContain("First I look around.");
  expect(known).not.toContain("Then I try.");
});

test("resumes a session from the page and shows the command for a terminal", async () => {
  const harness = await startJobHarness();
  const { id, session_id } = await runJobToEnd(harness, "work");
  const page = await harness.openPage(`/jobs/${id}`);
  await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
  await page.getByRole("button", { name: "Copy resume command" }).click();
  await page.getByRole("button", { name: "Copied" }).waitFor();
  expect(await page.evaluate("navigator.clipboard.readText()")).toBe(
    `herdctl sessions resume ${session_id} --config ${harness.folder}/herdctl.yaml`,
  );
  await page.getByRole("button", { name: "Resume", exact: true }).click();
  await page.getByRole("textbox", { name: "Prompt" }).fill("Go on");
  await page.getByRole("button", { name: "Resume", exact: true }).last().click();
  await conversation(page).getByText("A plain answer.").waitFor();
  const [latest] = (await harness.fleet().jobs.list({ limit: 1 })).jobs;
  expect(latest).toMatchObject({ prompt: "Go on", resumed_from: session_id });
});

test("runs a job again with its prompt, and downloads its transcript", async () => {
  const harness = await startJobHarness();
  const { id } = await runJobToEnd(harness, "Say it once more");
  const page = await harness.openPage(`/jobs/${id}`);
  await conversation(page).getByText("A plain answer.").waitFor();
  const download = page.waitForEvent("download");
  await page.getByRole("button", { name: "Download" }).click();
  await page.getByRole("menuitem", { name: "Transcript (Markdown)" }).click();
  const transcript = readFileSync(await (await download).path(), "utf8");
  expect(transcript).toMatch(/## Prompt\n\nSay it once more\n[\s\S]*\nA plain answer\.\n/);

  await page.getByRole("button", { name: "Run again" }).click();
  await page.getByRole("button", { name: "Run again" }).last().click();
  await expect.poll(() => page.url()).not.toContain(id);
  const [latest] = (await harness.fleet().jobs.list({ limit: 1 })).jobs;
  expect(latest).toMatchObject({ prompt: "Say it once more", resumed_from: null });
});

test("treats code in prompts, messages, file names and output as text", async () => {
  const harness = await startJobHarness();
  const { id } = await runJobToEnd(harness, `evil ${maliciousMarkup}`);
  const page = await harness.openPage(`/jobs/${id}`);
  const log = conversation(page);
  await log.getByText(`evil ${maliciousMarkup}`).waitFor();
  await log.getByText(`done ${maliciousMarkup}`).waitFor();
  await log.getByRole("button", { name: /^▸?\s*Bash/ }).click();
  await log.getByRole("region", { name: "Output" }).getByText(maliciousMarkup).first().waitFor();
  await page.getByRole("button", { name: "Raw events" }).click();
  await page.getByRole("log", { name: "Raw events" }).getByText("assistant").first().waitFor();
  expect(await page.evaluate("window.hurt")).toBeUndefined();
  expect(await page.locator("img, [href^=javascript], main script").count()).toBe(0);
});

test("disables everything for a reader and gives the reason", async () => {
  const harness = await startJobHarness();
  const { id } = await runJobToEnd(harness, "work");
  const page = await harness.openPage(`/jobs/${id}`, { scope: "read" });
  const resume = page.getByRole("button", { name: "Resume", exact: true });
  await resume.waitFor();
  await expect.poll(() => resume.getAttribute("aria-disabled")).toBe("true");
  expect(await resume.getAttribute("title")).toContain("read-only");
});

test.each(["light", "dark"] as const)(
  "has no accessibility violations on a job page on a phone, %s",
  async (scheme) => {
    const harness = await startJobHarness();
    const { id } = await runJobToEnd(harness, "work");
    const page = await harness.openPage(`/jobs/${id}`, { size: phoneSize, scheme });
    await conversation(page).getByText("All is done.").waitFor();
    expect(await findAccessibilityViolations(page)).toEqual([]);
    expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(phoneSize.width);
    await page.getByRole("button", { name: "Waterfall" }).click();
    await waterfall(page).getByText("Turn 2").click();
    await conversation(page).getByText("Then I try.").waitFor();
  },
);
