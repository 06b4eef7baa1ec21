import type { AskPerson } from "@herdctl/core/internal";
import type { Approval } from "@herdctl/protocol";
import { describe, expect, test } from "vitest";
import { readJobMessages, runJob } from "../support/run-job.ts";
import {
  startObedientHarness,
  toolCallPrompt,
  toolResultTexts,
} from "../support/runtimes-under-test.ts";
import { testSubset } from "../support/test-subset.ts";

const askingAgent = (runtime: string, more = "") => `runtime: ${runtime}
permission_mode: dontAsk
tools: [ask]
${more}`;
const askPrompt = (input: object) => toolCallPrompt(["mcp__herd__ask", input]);
const colours = { question: "Which colour?", choices: ["Red", "Blue"] };

/** Gives the same answer to every question, and records the questions. */
function answeringPerson(word: Awaited<ReturnType<AskPerson>>) {
  const asked: Approval[] = [];
  const askPerson: AskPerson = async (approval) => {
    asked.push(approval);
    return word;
  };
  return { asked, askPerson };
}
const neverAnswers: AskPerson = () => new Promise(() => undefined);

async function runWithAnswer(runtime: string, input: object, askPerson?: AskPerson, more = "") {
  const harness = await startObedientHarness();
  const { job } = await runJob(harness, {
    yaml: askingAgent(runtime, more),
    prompt: askPrompt(input),
    askPerson,
  });
  return { job, toolResults: toolResultTexts(await readJobMessages(job)).join() };
}

describe.each(testSubset(["cli", "sdk"], 1))("runtime: %s", (runtime) => {
  test("asks a person a question and returns the answer", async () => {
    const { asked, askPerson } = answeringPerson({ reply: "  as deep as the sea " });
    const { job, toolResults } = await runWithAnswer(runtime, { question: "How deep?" }, askPerson);
    expect(asked).toMatchObject([
      {
        kind: "question",
        job_id: job.id,
        tool: "mcp__herd__ask",
        question: "How deep?",
        choices: null,
        free_text: true,
        default_reply: null,
        answer: null,
      },
    ]);
    expect(toolResults).toContain("A person answered: as deep as the sea");
    expect(job.outcome).toMatchObject({ code: "success" });
  });

  test("accepts a choice by its label in any letter case", async () => {
    const { asked, askPerson } = answeringPerson({ reply: "blue" });
    const { toolResults } = await runWithAnswer(runtime, colours, askPerson);
    expect(asked[0]?.choices?.map(({ label }) => label)).toEqual(["Red", "Blue"]);
    expect(toolResults).toContain("A person answered: Blue");
  });

  test("reports to the model that no one answered in time", async () => {
    const { job, toolResults } = await runWithAnswer(
      runtime,
      { ...colours, expires: "1s" },
      neverAnswers,
    );
    expect(toolResults).toContain("There was no answer in time.");
    expect(toolResults).not.toMatch(/Red|Blue/);
    expect(job.outcome).toMatchObject({ code: "success" });
  });

  test("limits the waiting time by the configuration", async () => {
    const bound = "ask: { timeout: 1s }";
    const late = { ...colours, expires: "3h" };
    expect((await runWithAnswer(runtime, late, neverAnswers, bound)).toolResults).toContain(
      "There was no answer",
    );
  });

  test("uses the default only where the configuration allows it", async () => {
    const question = { ...colours, expires: "1s", default: "Red" };
    const without = await runWithAnswer(runtime, question, neverAnswers);
    expect(without.toolResults).toContain("There was no answer in time.");
    const by = await runWithAnswer(runtime, question, neverAnswers, "ask: { use_default: true }");
    expect(by.toolResults).toContain("your default instead: Red");
  });
});

test("reports to the model immediately that there is no one to ask", async () => {
  const { toolResults } = await runWithAnswer("cli", { ...colours, default: "Red" }, undefined);
  expect(toolResults).toContain("There is no person to ask.");
});

test("lets a person decline, and accepts neither a permission decision nor an unknown choice as an answer", async () => {
  for (const word of ["deny", "allow", { reply: "Green" }] as const) {
    const { toolResults } = await runWithAnswer("cli", colours, answeringPerson(word).askPerson);
    expect(toolResults).toContain("A person declined to answer.");
  }
});

test("accepts another answer when free text is allowed beside the choices", async () => {
  const { askPerson } = answeringPerson({ reply: "Green" });
  const { toolResults } = await runWithAnswer("cli", { ...colours, free_text: true }, askPerson);
  expect(toolResults).toContain("A person answered: Green");
});

const invalidQuestions: [why: string, input: object, message: RegExp][] = [
  ["a default that is not a choice", { ...colours, default: "Green" }, /not among the choices/],
  ["identical choices", { question: "?", choices: ["a", "A"] }, /choices must differ/],
  ["a single choice", { question: "?", choices: ["a"] }, /choices/],
  ["an empty question", { question: " " }, /question/],
  ["an invalid duration", { question: "?", expires: "soon" }, /not a duration/],
];
test.each(invalidQuestions)("refuses %s before asking anyone", async (_, input, why) => {
  const { asked, askPerson } = answeringPerson({ reply: "x" });
  const { toolResults } = await runWithAnswer("cli", input, askPerson);
  expect(toolResults).toMatch(why);
  expect(asked).toEqual([]);
});

test("offers no ask tool to an agent without it", async () => {
  const harness = await startObedientHarness();
  const { asked, askPerson } = answeringPerson({ reply: "x" });
  const { job } = await runJob(harness, {
    yaml: "tools: [progress]",
    prompt: askPrompt(colours),
    askPerson,
  });
  expect(toolResultTexts(await readJobMessages(job)).join()).toMatch(/No such tool/);
  expect(asked).toEqual([]);
});
