import type { Approval, AskPerson } from "@herdctl/core";
import { describe, expect, test } from "vitest";
import { logOf, runJob } from "../support/job.ts";
import { obedientStage, obey, toolResults } from "../support/runtime.ts";
import { sliceOf } from "../support/width.ts";

const asking = (runtime: string, more = "") => `runtime: ${runtime}
permission_mode: dontAsk
tools: [ask]
${more}`;
const ask = (input: object) => obey(["mcp__herd__ask", input]);
const colours = { question: "Which colour?", choices: ["Red", "Blue"] };

/** Somebody who says the same to whatever is asked, and what that was. */
function person(word: Awaited<ReturnType<AskPerson>>) {
  const asked: Approval[] = [];
  const askPerson: AskPerson = async (approval) => {
    asked.push(approval);
    return word;
  };
  return { asked, askPerson };
}
const silent: AskPerson = () => new Promise(() => undefined);

async function answered(runtime: string, input: object, askPerson?: AskPerson, more = "") {
  const on = await obedientStage();
  const { job } = await runJob(on, { yaml: asking(runtime, more), prompt: ask(input), askPerson });
  return { job, told: toolResults(await logOf(job)).join() };
}

describe.each(sliceOf(["cli", "sdk"], 1))("runtime: %s", (runtime) => {
  test("a question is put before a person, and the answer comes back", async () => {
    const { asked, askPerson } = person({ reply: "  as deep as the sea " });
    const { job, told } = await answered(runtime, { question: "How deep?" }, askPerson);
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
    expect(told).toContain("A person answered: as deep as the sea");
    expect(job.outcome).toMatchObject({ code: "success" });
  });

  test("a choice is answered by its label, however it is written", async () => {
    const { asked, askPerson } = person({ reply: "blue" });
    const { told } = await answered(runtime, colours, askPerson);
    expect(asked[0]?.choices?.map(({ label }) => label)).toEqual(["Red", "Blue"]);
    expect(told).toContain("A person answered: Blue");
  });

  test("when the time is over the model is told that nobody answered", async () => {
    const { job, told } = await answered(runtime, { ...colours, expires: "1s" }, silent);
    expect(told).toContain("Nobody answered in time.");
    expect(told).not.toMatch(/Red|Blue/);
    expect(job.outcome).toMatchObject({ code: "success" });
  });

  test("the configuration bounds the time", async () => {
    const bound = "ask: { expires: 1s }";
    const late = { ...colours, expires: "3h" };
    expect((await answered(runtime, late, silent, bound)).told).toContain("Nobody answered");
  });

  test("a default is the answer only where the configuration says so", async () => {
    const question = { ...colours, expires: "1s", default: "Red" };
    const without = await answered(runtime, question, silent);
    expect(without.told).toContain("Nobody answered in time.");
    const by = await answered(runtime, question, silent, "ask: { use_default: true }");
    expect(by.told).toContain("your default counts: Red");
  });
});

test("with nobody to be asked the model is told so at once", async () => {
  const { told } = await answered("cli", { ...colours, default: "Red" }, undefined);
  expect(told).toContain("Nobody is there to be asked.");
});

test("a person may decline, and neither permission nor a wrong choice is an answer", async () => {
  for (const word of ["deny", "allow", { reply: "Green" }] as const) {
    const { told } = await answered("cli", colours, person(word).askPerson);
    expect(told).toContain("A person declined to answer.");
  }
});

test("with free text beside the choices another answer is taken too", async () => {
  const { askPerson } = person({ reply: "Green" });
  const { told } = await answered("cli", { ...colours, free_text: true }, askPerson);
  expect(told).toContain("A person answered: Green");
});

const wrongs: [why: string, input: object, told: RegExp][] = [
  ["a default that is no choice", { ...colours, default: "Green" }, /not among the choices/],
  ["choices that are the same", { question: "?", choices: ["a", "A"] }, /choices must differ/],
  ["one choice", { question: "?", choices: ["a"] }, /choices/],
  ["no question", { question: " " }, /question/],
  ["a time that is none", { question: "?", expires: "soon" }, /not a duration/],
];
test.each(wrongs)("%s is refused before anybody is asked", async (_, input, why) => {
  const { asked, askPerson } = person({ reply: "x" });
  const { told } = await answered("cli", input, askPerson);
  expect(told).toMatch(why);
  expect(asked).toEqual([]);
});

test("an agent without the tool has none", async () => {
  const on = await obedientStage();
  const { asked, askPerson } = person({ reply: "x" });
  const { job } = await runJob(on, { yaml: "tools: [progress]", prompt: ask(colours), askPerson });
  expect(toolResults(await logOf(job)).join()).toMatch(/No such tool/);
  expect(asked).toEqual([]);
});
