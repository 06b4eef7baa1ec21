import type { Approval, AskPerson } from "@herdctl/core";
import { describe, expect, test } from "vitest";
import { logOf, runJob } from "../support/job.ts";
import { initOf, obedientStage, obey, resultOf, toolResults } from "../support/runtime.ts";
import { sliceOf } from "../support/width.ts";

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
const prompt = obey(["AskUserQuestion", input]);

/** Answers by the question; what is not in the list is declined. */
function person(replies: Record<string, string>) {
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

describe.each(sliceOf(programs, 2))("%s, claude %s", (runtime, version) => {
  test.each(["default", "acceptEdits", "bypassPermissions", "plan"])(
    "in mode %s Claude Code's own questions reach a person, and the answers the model",
    async (mode) => {
      const on = await obedientStage();
      const { asked, askPerson } = person(both);
      const yaml = `runtime: ${runtime}\npermission_mode: ${mode}`;
      const { job } = await runJob(on, { yaml, version, prompt, askPerson });
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
          several: false,
        },
        { question: "Which fruits?", several: true },
      ]);
      const told = toolResults(await logOf(job)).join();
      expect(told).toMatch(/Which colour\?\W+something green/);
      expect(told).toMatch(/Which fruits\?\W+Apple, Pear/);
      expect(job.outcome).toMatchObject({ code: "success" });
    },
  );

  test("in mode dontAsk claude denies them itself", async () => {
    const on = await obedientStage();
    const { asked, askPerson } = person(both);
    const yaml = `runtime: ${runtime}\npermission_mode: dontAsk`;
    const { job } = await runJob(on, { yaml, version, prompt, askPerson });
    expect(asked).toEqual([]);
    expect(initOf(await logOf(job))?.tools).not.toContain("AskUserQuestion");
  });

  test("what is not answered is denied with the reason, and what was answered is told", async () => {
    const on = await obedientStage();
    const { askPerson } = person({ "Which colour?": "Red" });
    const yaml = `runtime: ${runtime}\nallowed_tools: [AskUserQuestion]`;
    const { job } = await runJob(on, { yaml, version, prompt, askPerson });
    const told = toolResults(await logOf(job)).join();
    expect(told).toMatch(/Which colour\? Red\\nWhich fruits\? A person declined to answer\./);
    expect(job.outcome).toMatchObject({ code: "finished_with_denials" });
  });

  test("with nobody to be asked they are denied, and nothing is made up", async () => {
    const on = await obedientStage();
    const { job } = await runJob(on, { yaml: `runtime: ${runtime}`, version, prompt });
    expect(toolResults(await logOf(job)).join()).toMatch(
      /Which colour\? Nobody is there to be asked\./,
    );
  });
});

test.each(["acceptEdits", "bypassPermissions", "plan"])(
  "in mode %s nothing else is asked, and no plan waits to be approved",
  async (mode) => {
    const on = await obedientStage();
    const { asked, askPerson } = person({});
    const calls = [
      obey(["Bash", { command: "mkfifo piped" }]),
      obey(["EnterPlanMode", {}]),
      obey(["ExitPlanMode", { plan: "go" }]),
    ];
    const { job } = await runJob(on, {
      yaml: `runtime: cli\npermission_mode: ${mode}`,
      prompt: calls.join("\n\n"),
      askPerson,
    });
    expect(asked).toEqual([]);
    const messages = await logOf(job);
    const denied = (resultOf(messages)?.permission_denials ?? []).map((one) => one.tool_name);
    expect(denied).toEqual(mode === "bypassPermissions" ? [] : ["Bash"]);
    expect(initOf(messages)?.tools.filter((tool) => tool.includes("PlanMode"))).toEqual([]);
  },
);
