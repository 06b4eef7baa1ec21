import { describe, expect, test } from "vitest";
import { Doing } from "../../packages/core/src/runner/doing.ts";
import { gistOf, toolName } from "../../packages/core/src/runner/gist.ts";
import type { JobEvent } from "../../packages/core/src/runner/job-event.ts";
import { noReplyText } from "../../packages/core/src/runner/no-reply.ts";
import { progressOf } from "../../packages/core/src/runner/progress.ts";
import { reasonOf } from "../../packages/core/src/runner/runtime/mcp/reason-of.ts";

test.each([
  ["Read", { file_path: "/work/a.ts" }, "a.ts"],
  ["NotebookEdit", { notebook_path: "/work/b.ipynb" }, "b.ipynb"],
  ["Read", { file_path: 5 }, ""],
  ["Grep", { pattern: "x", path: "/work/src" }, "x in src"],
  ["Glob", { pattern: "*.ts" }, "*.ts"],
  ["Bash", { command: "one\n  two" }, "one ⏎ two"],
  ["AskUserQuestion", { questions: [{ question: "A?" }, { question: "B?" }] }, "A? B?"],
  ["AskUserQuestion", { questions: "none" }, ""],
  [
    "TodoWrite",
    { todos: [{ status: "completed" }, { status: "in_progress", content: "now" }] },
    "1 of 2 done: now",
  ],
  ["TodoWrite", { todos: [{ status: "completed" }] }, "1 of 1 done"],
  ["TodoWrite", { todos: null }, "0 of 0 done"],
  ["mcp__x__y", { number: 1, name: "first text" }, "first text"],
  ["mcp__x__y", { number: 1 }, '{"number":1}'],
  ["mcp__x__y", {}, ""],
  ["Bash", "no object", ""],
  ["Bash", null, ""],
])("%s with %j is told as %j", (tool, input, gist) => {
  expect(gistOf(tool, input, "/work")).toBe(gist);
});

test("the tools of servers are named by both", () => {
  expect(toolName("mcp__github__create_issue")).toBe("github · create_issue");
  expect(toolName("mcp__alone")).toBe("mcp__alone");
  expect(toolName("Bash")).toBe("Bash");
});

test.each([
  [{ text: "reading  the\ntests", fraction: 0.409 }, "40 % reading the tests"],
  [{ text: "done", fraction: 2 }, "done"],
  [{ text: "done" }, "done"],
  [{ fraction: 0.5 }, undefined],
  ["no object", undefined],
])("progress %j is told as %j", (input, told) => {
  expect(progressOf("mcp__herd__progress", input)).toBe(told);
  expect(progressOf("mcp__other__progress", input)).toBeUndefined();
});

test("of a question without an answer the model is told why, and the reason that was given", () => {
  expect(noReplyText({ why: "expired" })).toMatch(/^Nobody answered in time\. That is neither/);
  expect(noReplyText({ why: "declined", reason: "not today" })).toContain(
    "The reason given: not today",
  );
});

test("what went wrong is told with what lies behind it", () => {
  const refused = Object.assign(new Error("connect"), { code: "ECONNREFUSED" });
  expect(reasonOf(new Error("fetch failed", { cause: refused }))).toBe(
    "fetch failed: ECONNREFUSED",
  );
  expect(reasonOf(new Error("fetch failed", { cause: new Error("why") }))).toBe(
    "fetch failed: why",
  );
  expect(reasonOf(new Error("alone", { cause: "text" }))).toBe("alone");
  expect(reasonOf("a text")).toBe("a text");
});

describe("what an agent is at", () => {
  const call = (id: string, tool: string, input: object): JobEvent =>
    ({ kind: "tool_call", id, tool, input }) as JobEvent;
  const result = (id: string, isError = false): JobEvent =>
    ({ kind: "tool_result", id, isError }) as JobEvent;

  test("is what it says of its progress, then what is seen of it, one of several", () => {
    const doing = new Doing();
    expect(doing.text).toBe("starting");
    doing.see({ kind: "started", cwd: "/work" } as JobEvent);
    doing.see(call("p", "mcp__herd__progress", { text: "half", fraction: 0.5 }));
    doing.see(call("1", "Read", { file_path: "/work/a" }));
    expect(doing.text).toBe("Read a");
    doing.see(result("p"));
    expect(doing.text).toBe("50 % half · Read a");
    doing.see(call("2", "Bash", { command: "ls" }));
    expect(doing.text).toBe("50 % half · Read a and 1 more");
    doing.see(result("1"));
    doing.see(result("2"));
    expect(doing.text).toBe("50 % half");
    doing.see({ kind: "retry" } as JobEvent);
    expect(doing.text).toBe("waiting for the API");
  });

  test("progress that was refused is not told", () => {
    const doing = new Doing();
    doing.see(call("p", "mcp__herd__progress", { text: "half" }));
    doing.see(result("p", true));
    expect(doing.text).toBe("thinking");
  });
});
