import { writeFileSync } from "node:fs";
import type { Page } from "playwright-core";
import { beforeAll, expect, test } from "vitest";
import { ensureChromium } from "../support/chromium.ts";
import { waitUntil } from "../support/fleet-child-process.ts";
import { startDashboardHarness } from "./dashboard-harness.ts";

beforeAll(ensureChromium, 600_000);

const eventCount = 50_000;

test("reads, scrolls and searches a job of 50,000 events with few of them in the page", async () => {
  const harness = await startDashboardHarness({
    script: { rules: [] },
    agents: "  - { name: coder, runtime: cli }",
  });
  const { job } = await harness.fleet().jobs.trigger({ agent: "coder", prompt: "Go" });
  const { id, output_file } = await harness.fleet().jobs.wait(job.id);
  writeFileSync(output_file, writeLongLog());

  const page = await harness.openPage(`/jobs/${id}`);
  const log = page.getByRole("log", { name: "Conversation" });
  await page.getByRole("button", { name: "Raw events" }).click();
  await expectLineCount(page, eventCount);
  await page.getByRole("button", { name: "Side by side" }).click();
  await log.press("End");
  await log.getByText(`${eventCount} events are over`).waitFor();
  expect(await countElements(page)).toBeLessThan(3_000);

  await page.getByRole("searchbox", { name: "Search in this job" }).fill("step 12345 ");
  await page.getByText("2 matches").waitFor();
  await page.getByRole("button", { name: "Next match" }).click();
  await log.getByText("Now step 12345 is at hand").waitFor();
  expect(await countElements(page)).toBeLessThan(3_000);
}, 150_000);

function countElements(page: Page): Promise<number> {
  return page.evaluate("document.querySelectorAll('*').length");
}

/** The whole log has been read when the list has this length. */
async function expectLineCount(page: Page, count: number): Promise<void> {
  await page.getByRole("log", { name: "Raw events" }).waitFor();
  const height = "document.querySelector('[aria-label=\"Raw events\"] > div').offsetHeight";
  await waitUntil(
    "all events",
    async () => Number(await page.evaluate(height)) >= count * 24,
    90_000,
  );
}

/** Repeats the shapes of a real log: a text, a call and its result. */
function writeLongLog(): string {
  const lines: object[] = [];
  const session_id = "4f1c9a52-7f0e-4d0f-9c63-0b3a5a2f7b11";
  const at = (step: number) => new Date(1_800_000_000_000 + step * 250).toISOString();
  lines.push({ type: "system", subtype: "init", session_id, cwd: "/w", model: "claude" });
  for (let step = 1; lines.length < eventCount - 3; step += 1) {
    const message = { id: `msg_${step}`, usage: { input_tokens: 1000 + step } };
    const line = {
      type: "assistant",
      parent_tool_use_id: null,
      session_id,
      timestamp: at(step),
    };
    const text = `Now step ${step} is at hand, and **that** is what I do.`;
    const call = {
      type: "tool_use",
      id: `toolu_${step}`,
      name: "Bash",
      input: { command: `do step ${step} now` },
    };
    lines.push(
      { ...line, message: { ...message, content: [{ type: "text", text }] } },
      { ...line, message: { ...message, content: [call] } },
      {
        type: "user",
        parent_tool_use_id: null,
        timestamp: at(step + 0.5),
        message: {
          content: [
            {
              type: "tool_result",
              tool_use_id: `toolu_${step}`,
              content: "a line of output\n".repeat(20),
              is_error: step % 500 === 0,
            },
          ],
        },
      },
    );
  }
  const text = `${eventCount} events are over`;
  while (lines.length < eventCount - 1) lines.push({ type: "system", subtype: "thinking_tokens" });
  const content = [{ type: "text", text }];
  lines.push({ type: "assistant", message: { id: "msg_end", content }, timestamp: at(eventCount) });
  return lines.map((line) => `${JSON.stringify(line)}\n`).join("");
}
