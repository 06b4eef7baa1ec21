import type { Job } from "@herdctl/core";
import type { Page } from "playwright-core";
import { beforeAll, expect, test } from "vitest";
import { chromiumIsThere, phone } from "../support/chromium.ts";
import { barriers } from "./axe.ts";
import { type DashboardStage, dashboardStage } from "./stage.ts";

beforeAll(chromiumIsThere, 600_000);

const agents = "  - { name: coder, runtime: cli }\n  - { name: helper, runtime: cli }";
const bash = (command: string) => ({ name: "Bash", input: { command, description: "Do it" } });

/** Everything that would run if any text of an agent were taken for more than text. */
const evil = `<img src=x onerror="window.hurt=1"><script>window.hurt=1</script>`;

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
          text: `${evil} [press me](javascript:window.hurt=1)`,
          tools: [bash(`touch '${evil.replaceAll("/", "")}'; echo '${evil}'; ls`)],
        },
        `done ${evil}`,
      ],
    },
  ],
  default: "A plain answer.",
};

async function staged(): Promise<DashboardStage> {
  return dashboardStage({ script, agents });
}

async function begin(on: DashboardStage, prompt: string): Promise<Job> {
  const request = { trigger: "manual" as const, agent: "coder", prompt, watched: true };
  return (await on.fleet().trigger(request)).job;
}

async function finished(on: DashboardStage, prompt: string): Promise<Job> {
  return on.fleet().wait((await begin(on, prompt)).id);
}

const conversation = (page: Page) => page.getByRole("log", { name: "Conversation" });
const waterfall = (page: Page) => page.getByRole("region", { name: "Waterfall" });

test("what an agent says is seen while it says it, and it is cancelled from the page", async () => {
  const on = await staged();
  const { id } = await begin(on, "hang");
  const page = await on.open(`/jobs/${id}`);
  await conversation(page).getByText("I begin with the first of many").waitFor();
  expect((await on.fleet().job(id))?.job.status).toBe("running");

  await page.getByRole("button", { name: "Cancel" }).click();
  await page.getByRole("button", { name: "Cancel the job" }).click();
  await page.getByRole("heading", { name: "coder" }).getByText("cancelled").waitFor();
  expect((await on.fleet().wait(id)).outcome?.code).toBe("cancelled");
  expect(await page.getByRole("button", { name: "Cancel" }).count()).toBe(0);
});

test("conversation and waterfall are one: turns, tools, errors, search, raw events", async () => {
  const on = await staged();
  const { id } = await begin(on, "work");
  const page = await on.open(`/jobs/${id}`);
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
  await log.getByRole("button", { name: /Bash.*failed/ }).click();
  await log.getByRole("region", { name: "Output" }).getByText("bad").waitFor();

  await page.getByRole("searchbox", { name: "Search in this job" }).fill("LOOK around");
  await page.getByText("1 found").waitFor();

  await page.getByRole("button", { name: "Raw events" }).click();
  const raw = page.getByRole("log", { name: "Raw events" });
  await raw.getByRole("button", { name: /1 *system init/ }).click();
  await page.getByRole("region", { name: "Event 1" }).getByText('"subtype": "init"').waitFor();
  expect(await barriers(page)).toEqual([]);
});

test("a fork begins after the message that was chosen, and is seen at work", async () => {
  const on = await staged();
  const { id } = await finished(on, "work");
  const page = await on.open(`/jobs/${id}`);
  const first = conversation(page).locator("[data-key]", { hasText: "First I look around." });
  await first.hover();
  await first.getByRole("button", { name: "Fork from here" }).click();
  await page.getByRole("textbox", { name: "Prompt" }).fill("Another way, please");
  await page.getByRole("button", { name: "Fork", exact: true }).last().click();

  await conversation(page).getByText("A plain answer.").waitFor();
  await page.getByText("a fork").waitFor();
  const forked = await on.fleet().job(new URL(page.url()).pathname.split("/").at(-1) ?? "");
  expect(forked?.job).toMatchObject({ prompt: "Another way, please", agent: "coder" });
  const known = JSON.stringify(on.on.rehearsal.ledger.main.at(-1)?.body);
  expect(known).toContain("First I look around.");
  expect(known).not.toContain("Then I try.");
});

test("a session is gone on with, and can be gone on with in a terminal", async () => {
  const on = await staged();
  const { id, session_id } = await finished(on, "work");
  const page = await on.open(`/jobs/${id}`);
  await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
  await page.getByRole("button", { name: "Copy claude --resume" }).click();
  await page.getByRole("button", { name: "Copied" }).waitFor();
  expect(await page.evaluate("navigator.clipboard.readText()")).toBe(
    `cd ${on.on.workspace} && claude --resume ${session_id}`,
  );
  await page.getByRole("button", { name: "Resume", exact: true }).click();
  await page.getByRole("textbox", { name: "Prompt" }).fill("Go on");
  await page.getByRole("button", { name: "Resume", exact: true }).last().click();
  await conversation(page).getByText("A plain answer.").waitFor();
  const [latest] = (await on.fleet().jobs({ limit: 1 })).jobs;
  expect(latest).toMatchObject({ prompt: "Go on", resumed_from: session_id });
});

test("code in prompts, words, file names and output of an agent stays text", async () => {
  const on = await staged();
  const { id } = await finished(on, `evil ${evil}`);
  const page = await on.open(`/jobs/${id}`);
  const log = conversation(page);
  await log.getByText(`evil ${evil}`).waitFor();
  await log.getByText(`done ${evil}`).waitFor();
  await log.getByRole("button", { name: /^▸?\s*Bash/ }).click();
  await log.getByRole("region", { name: "Output" }).getByText(evil).first().waitFor();
  await page.getByRole("button", { name: "Raw events" }).click();
  await page.getByRole("log", { name: "Raw events" }).getByText("assistant").first().waitFor();
  expect(await page.evaluate("window.hurt")).toBeUndefined();
  expect(await page.locator("img, [href^=javascript], main script").count()).toBe(0);
});

test("who may only look can touch nothing, and is told why", async () => {
  const on = await staged();
  const { id } = await finished(on, "work");
  const page = await on.open(`/jobs/${id}`, { scope: "read" });
  const resume = page.getByRole("button", { name: "Resume", exact: true });
  await resume.waitFor();
  await expect.poll(() => resume.getAttribute("aria-disabled")).toBe("true");
  expect(await resume.getAttribute("title")).toContain("look only");
});

test.each(["light", "dark"] as const)("a job on a phone, %s, keeps nobody out", async (scheme) => {
  const on = await staged();
  const { id } = await finished(on, "work");
  const page = await on.open(`/jobs/${id}`, { size: phone, scheme });
  await conversation(page).getByText("All is done.").waitFor();
  expect(await barriers(page)).toEqual([]);
  expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(phone.width);
  await page.getByRole("button", { name: "Waterfall" }).click();
  await waterfall(page).getByText("Turn 2").click();
  await conversation(page).getByText("Then I try.").waitFor();
});
