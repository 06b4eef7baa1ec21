import { expect, test } from "vitest";
import type { PermissionRequest } from "../../packages/core/src/runner/contract/permission.ts";
import {
  type HumanHandlers,
  routeHumanRequests,
} from "../../packages/core/src/runner/execution/human-requests.ts";
import type { Reply } from "../../packages/protocol/src/records/question.ts";

const { signal } = new AbortController();
const ask = { timeout: 60_000 } as Parameters<typeof routeHumanRequests>[0]["ask"];
const allowAll: HumanHandlers["onPermission"] = async () => ({
  behavior: "allow",
  updatedInput: {},
});

function request(tool: string, input: Record<string, unknown> = {}): PermissionRequest {
  return { tool, input } as PermissionRequest;
}

const questions = {
  questions: [
    { question: "Which?", options: [{ label: "A" }, { label: "B", description: "the other" }] },
    { question: "More?", options: [], multiSelect: true },
  ],
};

test("asks no one where claude denies by itself or no one can answer", () => {
  const everybody = { onPermission: allowAll, onQuestion: async () => reply("A") };
  const never = routeHumanRequests({ permission_mode: "dontAsk", ask }, everybody);
  expect(never).toEqual({ onPermission: undefined, deniedTools: [] });
  const alone = routeHumanRequests({ permission_mode: "default", ask }, {});
  expect(alone).toEqual({ onPermission: undefined, deniedTools: [] });
});

test("asks for permission in one mode only and denies requests in others", async () => {
  const people = { onPermission: allowAll, onQuestion: async () => reply("A") };
  const usual = routeHumanRequests({ permission_mode: "default", ask }, people);
  expect(usual.deniedTools).toEqual([]);
  expect(await usual.onPermission?.(request("Bash"), signal)).toMatchObject({ behavior: "allow" });
  const edits = routeHumanRequests({ permission_mode: "acceptEdits", ask }, people);
  expect(edits.deniedTools).toEqual(["EnterPlanMode", "ExitPlanMode"]);
  expect(await edits.onPermission?.(request("Bash"), signal)).toEqual({
    behavior: "deny",
    message: "There is no person to ask for permission.",
  });
});

test("passes claude's questions with their choices and allows them with the answers", async () => {
  const asked: unknown[] = [];
  const onQuestion: HumanHandlers["onQuestion"] = async (question) => {
    asked.push([question.question, question.choices, question.multiple]);
    return reply(question.question === "Which?" ? "B" : "nothing");
  };
  const { onPermission } = routeHumanRequests(
    { permission_mode: "acceptEdits", ask },
    { onQuestion },
  );
  expect(await onPermission?.(request("AskUserQuestion", questions), signal)).toEqual({
    behavior: "allow",
    updatedInput: { ...questions, answers: { "Which?": "B", "More?": "nothing" } },
  });
  expect(asked).toEqual([
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

test("returns given and missing answers to the model", async () => {
  const onQuestion: HumanHandlers["onQuestion"] = async ({ question }) =>
    question === "Which?" ? reply("A") : { kind: "none", why: "declined", reason: "later" };
  const { onPermission } = routeHumanRequests(
    { permission_mode: "acceptEdits", ask },
    { onQuestion },
  );
  const answer = await onPermission?.(request("AskUserQuestion", questions), signal);
  expect(answer).toMatchObject({
    behavior: "deny",
    message: expect.stringMatching(/^Which\? A\nMore\? A person declined .*given: later/),
  });
});

test("denies questions that are invalid or that no one can answer", async () => {
  const withPeople = routeHumanRequests(
    { permission_mode: "default", ask },
    { onPermission: allowAll, onQuestion: async () => reply("A") },
  );
  expect(await withPeople.onPermission?.(request("AskUserQuestion"), signal)).toEqual({
    behavior: "deny",
    message: "These questions cannot be read.",
  });
  const without = routeHumanRequests(
    { permission_mode: "default", ask },
    { onPermission: allowAll },
  );
  expect(await without.onPermission?.(request("AskUserQuestion", questions), signal)).toMatchObject(
    { behavior: "deny", message: expect.stringContaining("There is no person to ask") },
  );
});

function reply(text: string): Reply {
  return { kind: "reply", text };
}
