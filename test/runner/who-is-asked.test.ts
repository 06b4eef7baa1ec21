import { expect, test } from "vitest";
import type { PermissionRequest } from "../../packages/core/src/runner/runtime/permission.ts";
import { type People, whoIsAsked } from "../../packages/core/src/runner/who-is-asked.ts";
import type { Reply } from "../../packages/core/src/state/question.ts";

const { signal } = new AbortController();
const ask = { expires: 60_000 } as Parameters<typeof whoIsAsked>[0]["ask"];
const allowing: People["onPermission"] = async () => ({ behavior: "allow", updatedInput: {} });

function request(tool: string, input: Record<string, unknown> = {}): PermissionRequest {
  return { tool, input } as PermissionRequest;
}

const questions = {
  questions: [
    { question: "Which?", options: [{ label: "A" }, { label: "B", description: "the other" }] },
    { question: "More?", options: [], multiSelect: true },
  ],
};

test("nobody is asked where claude denies by itself, or nobody is there", () => {
  const everybody = { onPermission: allowing, onQuestion: async () => reply("A") };
  const never = whoIsAsked({ permission_mode: "dontAsk", ask }, everybody);
  expect(never).toEqual({ onPermission: undefined, denied: [] });
  const alone = whoIsAsked({ permission_mode: "default", ask }, {});
  expect(alone).toEqual({ onPermission: undefined, denied: [] });
});

test("a tool needs permission in one mode only; in others its use is denied if it is asked for", async () => {
  const people = { onPermission: allowing, onQuestion: async () => reply("A") };
  const usual = whoIsAsked({ permission_mode: "default", ask }, people);
  expect(usual.denied).toEqual([]);
  expect(await usual.onPermission?.(request("Bash"), signal)).toMatchObject({ behavior: "allow" });
  const edits = whoIsAsked({ permission_mode: "acceptEdits", ask }, people);
  expect(edits.denied).toEqual(["EnterPlanMode", "ExitPlanMode"]);
  expect(await edits.onPermission?.(request("Bash"), signal)).toEqual({
    behavior: "deny",
    message: "Nobody can be asked for permission.",
  });
});

test("claude's questions come with their choices, and are allowed with the answers", async () => {
  const heard: unknown[] = [];
  const onQuestion: People["onQuestion"] = async (question) => {
    heard.push([question.question, question.choices, question.several]);
    return reply(question.question === "Which?" ? "B" : "nothing");
  };
  const { onPermission } = whoIsAsked({ permission_mode: "acceptEdits", ask }, { onQuestion });
  expect(await onPermission?.(request("AskUserQuestion", questions), signal)).toEqual({
    behavior: "allow",
    updatedInput: { ...questions, answers: { "Which?": "B", "More?": "nothing" } },
  });
  expect(heard).toEqual([
    [
      "Which?",
      [
        { label: "A", description: null },
        { label: "B", description: "the other" },
      ],
      false,
    ],
    ["More?", [], true],
  ]);
});

test("unless all are answered the model is told what was, and what was not", async () => {
  const onQuestion: People["onQuestion"] = async ({ question }) =>
    question === "Which?" ? reply("A") : { kind: "none", why: "declined", reason: "later" };
  const { onPermission } = whoIsAsked({ permission_mode: "acceptEdits", ask }, { onQuestion });
  const answer = await onPermission?.(request("AskUserQuestion", questions), signal);
  expect(answer).toMatchObject({
    behavior: "deny",
    message: expect.stringMatching(/^Which\? A\nMore\? A person declined .*given: later/),
  });
});

test("questions that cannot be read, or that nobody can be asked, are denied", async () => {
  const withPeople = whoIsAsked(
    { permission_mode: "default", ask },
    { onPermission: allowing, onQuestion: async () => reply("A") },
  );
  expect(await withPeople.onPermission?.(request("AskUserQuestion"), signal)).toEqual({
    behavior: "deny",
    message: "These questions cannot be read.",
  });
  const without = whoIsAsked({ permission_mode: "default", ask }, { onPermission: allowing });
  expect(await without.onPermission?.(request("AskUserQuestion", questions), signal)).toMatchObject(
    { behavior: "deny", message: expect.stringContaining("Nobody is there") },
  );
});

function reply(text: string): Reply {
  return { kind: "reply", text };
}
