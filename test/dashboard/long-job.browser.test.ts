import { writeFileSync } from "node:fs";
import type { Page } from "playwright-core";
import { beforeAll, expect, test } from "vitest";
import { chromiumIsThere } from "../support/chromium.ts";
import { until } from "../support/fleet-program.ts";
import { dashboardStage } from "./stage.ts";

beforeAll(chromiumIsThere, 600_000);

const events = 50_000;

test("a job of 50,000 events is read, scrolled and searched with few of them on the page", async () => {
  const on = await dashboardStage({
    script: { rules: [] },
    agents: "  - { name: coder, runtime: cli }",
  });
  const { job } = await on.fleet().trigger({ trigger: "manual", agent: "coder", prompt: "Go" });
  const { id, output_file } = await on.fleet().wait(job.id);
  writeFileSync(output_file, longLog());

  const page = await on.open(`/jobs/${id}`);
  const log = page.getByRole("log", { name: "Conversation" });
  await page.getByRole("button", { name: "Raw events" }).click();
  await lineCount(page, events);
  await page.getByRole("button", { name: "Side by side" }).click();
  await log.press("End");
  await log.getByText(`${events} events are over`).waitFor();
  expect(await elements(page)).toBeLessThan(3_000);

  await page.getByRole("searchbox", { name: "Search in this job" }).fill("step 12345 ");
  await page.getByText("2 found").waitFor();
  await page.getByRole("button", { name: "Next found" }).click();
  await log.getByText("Now step 12345 is at hand").waitFor();
  expect(await elements(page)).toBeLessThan(3_000);
}, 150_000);

function elements(page: Page): Promise<number> {
  return page.evaluate("document.querySelectorAll('*').length");
}

/** All of it has been read when the list is as long. */
async function lineCount(page: Page, count: number): Promise<void> {
  await page.getByRole("log", { name: "Raw events" }).waitFor();
  const height = "document.querySelector('[aria-label=\"Raw events\"] > div').offsetHeight";
  await until("all events", async () => Number(await page.evaluate(height)) >= count * 24, 90_000);
}

/** The shapes of a real log: a text, a call and its result, again and again. */
function longLog(): string {
  const lines: object[] = [];
  const session_id = "4f1c9a52-7f0e-4d0f-9c63-0b3a5a2f7b11";
  const at = (step: number) => new Date(1_800_000_000_000 + step * 250).toISOString();
  lines.push({ type: "system", subtype: "init", session_id, cwd: "/w", model: "claude" });
  for (let step = 1; lines.length < events - 3; step += 1) {
    const message = { id: `msg_${step}`, usage: { input_tokens: 1000 + step } };
    const said = { type: "assistant", parent_tool_use_id: null, session_id, timestamp: at(step) };
    const text = `Now step ${step} is at hand, and **that** is what I do.`;
    const call = {
      type: "tool_use",
      id: `toolu_${step}`,
      name: "Bash",
      input: { command: `do step ${step} now` },
    };
    lines.push(
      { ...said, message: { ...message, content: [{ type: "text", text }] } },
      { ...said, message: { ...message, content: [call] } },
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
  const text = `${events} events are over`;
  while (lines.length < events - 1) lines.push({ type: "system", subtype: "thinking_tokens" });
  const content = [{ type: "text", text }];
  lines.push({ type: "assistant", message: { id: "msg_end", content }, timestamp: at(events) });
  return lines.map((line) => `${JSON.stringify(line)}\n`).join("");
}
