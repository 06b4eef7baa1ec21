import type { AskPerson } from "@herdctl/core/internal";
import type { Approval } from "@herdctl/protocol";
import { describe, expect, test } from "vitest";
import { readJobMessages, runJob } from "../support/run-job.ts";
import {
  initOf,
  resultOf,
  startObedientHarness,
  toolCallPrompt,
  toolResultTexts,
} from "../support/runtimes-under-test.ts";
import { testSubset } from "../support/test-subset.ts";

const input = {
  questions: [
    {
      question: "Which colour?",
      header: "Colour",
      multiSelect: false,
      options: [
        { label: "Red", description: "like fire" },
        { label: "Blue", description: "like the sea" },
      ],
    },
    {
      question: "Which fruits?",
      header: "Fruit",
      multiSelect: true,
      options: [
        { label: "Apple", description: "round" },
        { label: "Pear", description: "not so round" },
      ],
    },
  ],
};
const prompt = toolCallPrompt(["AskUserQuestion", input]);

/** Answers each question from `replies`; declines a question that is not listed. */
function answeringPerson(replies: Record<string, string>) {
  const asked: Approval[] = [];
  const askPerson: AskPerson = async (approval) => {
    asked.push(approval);
    const reply = replies[approval.question ?? ""];
    return reply === undefined ? "deny" : { reply };
  };
  return { asked, askPerson };
}
const both = { "Which colour?": "something green", "Which fruits?": "Apple, Pear" };

const programs = [
  ["sdk", "325"],
  ["cli", "325"],
  ["cli", "197"],
] as const;

describe.each(testSubset(programs, 2))("%s, claude %s", (runtime, version) => {
  test.each(["default", "acceptEdits", "bypassPermissions", "plan"])(
    "passes Claude Code's own questions to a person and the answers to the model in mode %s",
    async (mode) => {
      const harness = await startObedientHarness();
      const { asked, askPerson } = answeringPerson(both);
      const yaml = `runtime: ${runtime}\npermission_mode: ${mode}`;
      const { job } = await runJob(harness, { yaml, version, prompt, askPerson });
      expect(asked).toMatchObject([
        {
          kind: "question",
          tool: "AskUserQuestion",
          question: "Which colour?",
          choices: [
            { label: "Red", description: "like fire" },
            { label: "Blue", description: "like the sea" },
          ],
          free_text: true,
          multiple: false,
        },
        { question: "Which fruits?", multiple: true },
      ]);
      const toolResults = toolResultTexts(await readJobMessages(job)).join();
      expect(toolResults).toMatch(/Which colour\?\W+something green/);
      expect(toolResults).toMatch(/Which fruits\?\W+Apple, Pear/);
      expect(job.outcome).toMatchObject({ code: "success" });
    },
  );

  test("lets claude deny its own questions in mode dontAsk", async () => {
    const harness = await startObedientHarness();
    const { asked, askPerson } = answeringPerson(both);
    const yaml = `runtime: ${runtime}\npermission_mode: dontAsk`;
    const { job } = await runJob(harness, { yaml, version, prompt, askPerson });
    expect(asked).toEqual([]);
    expect(initOf(await readJobMessages(job))?.tools).not.toContain("AskUserQuestion");
  });

  test("denies unanswered questions with the reason and returns the given answers", async () => {
    const harness = await startObedientHarness();
    const { askPerson } = answeringPerson({ "Which colour?": "Red" });
    const yaml = `runtime: ${runtime}\nallowed_tools: [AskUserQuestion]`;
    const { job } = await runJob(harness, { yaml, version, prompt, askPerson });
    const toolResults = toolResultTexts(await readJobMessages(job)).join();
    expect(toolResults).toMatch(
      /Which colour\? Red\\nWhich fruits\? A person declined to answer\./,
    );
    expect(job.outcome).toMatchObject({ code: "finished_with_denials" });
  });

  test("denies questions without inventing an answer when there is no one to ask", async () => {
    const harness = await startObedientHarness();
    const { job } = await runJob(harness, { yaml: `runtime: ${runtime}`, version, prompt });
    expect(toolResultTexts(await readJobMessages(job)).join()).toMatch(
      /Which colour\? There is no person to ask\./,
    );
  });
});

test.each(["acceptEdits", "bypassPermissions", "plan"])(
  "asks nothing else and waits for no plan approval in mode %s",
  async (mode) => {
    const harness = await startObedientHarness();
    const { asked, askPerson } = answeringPerson({});
    const calls = [
      toolCallPrompt(["Bash", { command: "mkfifo piped" }]),
      toolCallPrompt(["EnterPlanMode", {}]),
      toolCallPrompt(["ExitPlanMode", { plan: "go" }]),
    ];
    const { job } = await runJob(harness, {
      yaml: `runtime: cli\npermission_mode: ${mode}`,
      prompt: calls.join("\n\n"),
      askPerson,
    });
    expect(asked).toEqual([]);
    const messages = await readJobMessages(job);
    const denied = (resultOf(messages)?.permission_denials ?? []).map((one) => one.tool_name);
    expect(denied).toEqual(mode === "bypassPermissions" ? [] : ["Bash"]);
    expect(initOf(messages)?.tools.filter((tool) => tool.includes("PlanMode"))).toEqual([]);
  },
);
