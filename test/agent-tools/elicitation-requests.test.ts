import { dirname, resolve } from "node:path";
import type { AskPerson } from "@herdctl/core/internal";
import { describe, expect, test } from "vitest";
import { runHerdctl } from "../cli/run-herdctl.ts";
import { startFleetProcess, waitUntil } from "../support/fleet-child-process.ts";
import { startHarness } from "../support/harness.ts";
import { writeFleetFile } from "../support/in-process-fleet.ts";
import { readJobMessages, runJob } from "../support/run-job.ts";
import {
  startObedientHarness,
  toolCallPrompt,
  toolResultTexts,
} from "../support/runtimes-under-test.ts";
import { testSubset } from "../support/test-subset.ts";

const program = resolve(import.meta.dirname, "../runtimes/programs/mcp-eliciting.mjs");
const form = {
  type: "object",
  properties: {
    kind: { type: "string", title: "Kind", enum: ["minor", "major"] },
    count: { type: "integer", minimum: 1 },
    note: { type: "string" },
  },
  required: ["kind", "count"],
};
const shop = { command: process.execPath, args: [program], env: { FORM: JSON.stringify(form) } };
const servers = `mcp_servers: { shop: ${JSON.stringify(shop)} }`;
const prompt = toolCallPrompt(
  ["mcp__shop__form", {}],
  ["mcp__shop__page", { url: "https://login.example/start" }],
);

/** Answers each question by the end of its text. */
function personAnswering(replies: Record<string, string[]>): AskPerson {
  return async ({ question }) => {
    const [, answers] = Object.entries(replies).find(([end]) => question?.includes(end)) ?? [];
    const reply = answers?.shift();
    return reply === undefined ? "deny" : { reply };
  };
}

describe.each(testSubset(["cli", "sdk"], 2))("runtime: %s", (runtime) => {
  test("asks a person for what an MCP server requests, and passes the data on", async () => {
    const harness = await startObedientHarness();
    const askPerson = personAnswering({
      Kind: ["major"],
      count: ["many", "3"],
      note: ["Leave empty"],
      "https://login.example/start": ["Done"],
    });
    const yaml = `runtime: ${runtime}\n${servers}`;
    const { job } = await runJob(harness, { yaml, prompt, askPerson });
    const [answered, page] = toolResultTexts(await readJobMessages(job));
    expect(answered?.replaceAll("\\", "")).toContain('"content":{"kind":"major","count":3}');
    expect(page?.replaceAll("\\", "")).toContain('{"action":"accept"}');
    expect(job.outcome?.code).toBe("success");
  });

  test("does not hang when nobody can be asked", async () => {
    const harness = await startObedientHarness();
    const yaml = `runtime: ${runtime}\n${servers}`;
    const { job } = await runJob(harness, { yaml, prompt });
    const results = toolResultTexts(await readJobMessages(job))
      .join()
      .replaceAll("\\", "");
    expect(results.match(/"action":"decline"/g)).toHaveLength(2);
    expect(job.outcome?.code).toBe("success");
  });
});

test("accepts the answers to an MCP server in another terminal", async () => {
  const harness = await startHarness({ mode: "obedient" });
  const file = writeFleetFile(harness, `  - { name: one, runtime: cli, ${servers} }`);
  const { control, stop } = await startFleetProcess(harness, file);
  const run = (...args: string[]) => runHerdctl(args, { cwd: dirname(file), env: harness.env });
  const [first = ""] = prompt.split("\n");
  const { job } = await control.jobs.trigger({ agent: "one", prompt: first });
  const open = await waitUntil("the questions", async () => {
    const found = await control.approvals.list();
    return found.length === 3 && found;
  });
  const { stdout } = await run("approvals");
  expect(stdout).toContain("The MCP server shop asks: Which release?");
  const idOf = (name: string) =>
    open.find(({ input }) => JSON.stringify(input).includes(`"field":"${name}"`))?.id ?? "";
  expect(await run("answer", idOf("kind"), "huge")).toMatchObject({ code: 2 });
  for (const [field, answer] of [
    ["kind", "minor"],
    ["count", "2"],
    ["note", "in a hurry"],
  ] as const)
    expect(await run("answer", idOf(field), answer)).toMatchObject({ code: 0 });
  const results = toolResultTexts(await readJobMessages(await control.jobs.wait(job.id))).join();
  expect(results.replaceAll("\\", "")).toContain(
    '"content":{"kind":"minor","count":2,"note":"in a hurry"}',
  );
  await stop();
});
