import type { Question, Reply } from "@herdctl/protocol";
import { expect, test } from "vitest";
import type { ElicitationRequest } from "../../packages/core/src/runner/contract/messages.ts";
import { answerElicitation } from "../../packages/core/src/runner/execution/elicitation.ts";

const request = (schema: object, more: Partial<ElicitationRequest> = {}): ElicitationRequest => ({
  server: "shop",
  message: "Which release?",
  mode: "form",
  schema: { type: "object", ...schema },
  ...more,
});

/** Answers each field from its replies, one after the other; then nobody answers. */
async function answer(asked: ElicitationRequest, replies: Record<string, (string | Reply)[]>) {
  const questions: Question[] = [];
  const result = await answerElicitation(asked, {
    timeoutMs: 60_000,
    signal: new AbortController().signal,
    ask: async (question) => {
      questions.push(question);
      const reply = replies[String(question.input.field)]?.shift();
      if (reply === undefined) return { kind: "none", why: "expired" };
      return typeof reply === "string" ? { kind: "reply", text: reply } : reply;
    },
  });
  return { result, questions };
}

const fields: [schema: object, replies: string[], value: unknown, question: object][] = [
  [{ type: "string" }, ["hello"], "hello", { choices: null, free_text: true }],
  [{ type: "boolean" }, ["No"], false, { free_text: false, choices: [{ label: "Yes" }, {}] }],
  [{ type: "integer", minimum: 1 }, ["x", "0", "2.5", "3"], 3, { choices: null }],
  [{ type: "number" }, ["2.5"], 2.5, {}],
  [{ enum: ["a", "b"], enumNames: ["Red", "Blue"] }, ["Blue"], "b", { free_text: false }],
  [{ oneOf: [{ const: "a", title: "Red" }] }, ["Red"], "a", { choices: [{ label: "Red" }] }],
  [
    { type: "array", items: { enum: ["a", "b", "c"] }, maxItems: 2 },
    ["a, x", "a, b, c", "c, A"],
    ["c", "a"],
    { multiple: true, free_text: true },
  ],
  [{ type: "string", format: "email" }, ["nobody", "a@b.example"], "a@b.example", {}],
  [{ type: "string", minLength: 3 }, ["ab", "abc"], "abc", {}],
  [
    { type: "integer", default: 7 },
    ["7"],
    7,
    { choices: [{ label: "7", description: "default" }] },
  ],
];

test.each(fields)(
  "turns the field %j into a question and the answer into its value",
  async (schema, replies, value, question) => {
    const asked = request({ properties: { it: schema }, required: ["it"] });
    const { result, questions } = await answer(asked, { it: [...replies] });
    expect(result).toEqual({ action: "accept", content: { it: value } });
    expect(questions[0]).toMatchObject({ tool: "mcp__shop", default_reply: null, ...question });
    expect(questions).toHaveLength(replies.length);
    for (const repeated of questions.slice(1))
      expect(repeated.question).toContain("was not accepted");
  },
);

test("asks all fields with their texts and limits, and leaves optional ones out on request", async () => {
  const properties = {
    version: { type: "integer", title: "Version", description: "of the release", maximum: 9 },
    note: { type: "string" },
  };
  const replies = { version: ["4"], note: ["Leave empty"] };
  const { result, questions } = await answer(
    request({ properties, required: ["version"] }),
    replies,
  );
  expect(result).toEqual({ action: "accept", content: { version: 4 } });
  expect(questions.map(({ question }) => question)).toEqual([
    "The MCP server shop asks: Which release?\nVersion: of the release (a whole number, at most 9)",
    "The MCP server shop asks: Which release?\nnote",
  ]);
  expect(questions[1]).toMatchObject({ free_text: true, choices: [{ label: "Leave empty" }] });
});

const url = { mode: "url" as const, url: "https://login.example/x" };
const declined: Reply = { kind: "none", why: "declined" };
const requests: [string, ElicitationRequest, Record<string, (string | Reply)[]>, object, number][] =
  [
    ["a confirmed page", request({}, url), { "": ["Done"] }, { action: "accept" }, 1],
    [
      "a form without fields",
      request({}),
      { "": ["Accept"] },
      { action: "accept", content: {} },
      1,
    ],
    ["no answer", request({ properties: { a: {} } }), {}, { action: "decline" }, 1],
    [
      "one declined field",
      request({ properties: { a: {}, b: {} } }),
      { a: ["x"], b: [declined] },
      { action: "decline" },
      2,
    ],
    [
      "a page that is no web address",
      request({}, { ...url, url: "file:///x" }),
      {},
      { action: "decline" },
      0,
    ],
    ["a form that cannot be read", request({ properties: { a: 5 } }), {}, { action: "decline" }, 0],
    [
      "too many fields",
      request({ properties: Object.fromEntries(Array.from({ length: 21 }, (_, i) => [i, {}])) }),
      {},
      { action: "decline" },
      0,
    ],
  ];

test.each(requests)("answers an MCP server: %s", async (_, asked, replies, result, count) => {
  const answered = await answer(asked, replies);
  expect(answered.result).toEqual(result);
  expect(answered.questions).toHaveLength(count);
});

test("withdraws the other fields when one is declined, and all when the server withdraws", async () => {
  const asked = request({ properties: { a: {}, b: {} } });
  const withdrawn: string[] = [];
  const controller = new AbortController();
  const run = (declinedField: string | undefined) =>
    answerElicitation(asked, {
      timeoutMs: 60_000,
      signal: controller.signal,
      ask: ({ input }, signal) =>
        new Promise((resolve) => {
          const field = String(input.field);
          if (field === declinedField) resolve(declined);
          signal.addEventListener("abort", () => {
            withdrawn.push(field);
            resolve({ kind: "none", why: "withdrawn" });
          });
        }),
    });
  expect(await run("b")).toEqual({ action: "decline" });
  expect(withdrawn).toContain("a");
  const cancelled = run(undefined);
  controller.abort();
  expect(await cancelled).toEqual({ action: "cancel" });
});
