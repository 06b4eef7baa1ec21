import { describe, expect, test } from "vitest";
import { formatNoReply } from "../../packages/core/src/runner/execution/format-no-reply.ts";
import { describeError } from "../../packages/core/src/runner/runtimes/mcp/connection.ts";
import { ActivityTracker, parseProgress } from "../../packages/protocol/src/events/activity.ts";
import type { JobEvent } from "../../packages/protocol/src/events/job-event.ts";
import {
  displayToolName,
  summarizeToolCall,
} from "../../packages/protocol/src/events/tool-summary.ts";

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
])("summarizes %s with %j as %j", (tool, input, gist) => {
  expect(summarizeToolCall(tool, input, "/work")).toBe(gist);
});

test("names MCP tools by server and tool", () => {
  expect(displayToolName("mcp__github__create_issue")).toBe("github · create_issue");
  expect(displayToolName("mcp__alone")).toBe("mcp__alone");
  expect(displayToolName("Bash")).toBe("Bash");
});

test.each([
  [{ text: "reading  the\ntests", fraction: 0.409 }, "40 % reading the tests"],
  [{ text: "done", fraction: 2 }, "done"],
  [{ text: "done" }, "done"],
  [{ fraction: 0.5 }, undefined],
  ["no object", undefined],
])("summarizes the progress %j as %j", (input, expected) => {
  expect(parseProgress("mcp__herd__progress", input)).toBe(expected);
  expect(parseProgress("mcp__other__progress", input)).toBeUndefined();
});

test("tells the model why a question has no answer, with the given reason", () => {
  expect(formatNoReply({ why: "expired" })).toMatch(
    /^There was no answer in time\. This is neither/,
  );
  expect(formatNoReply({ why: "declined", reason: "not today" })).toContain(
    "The reason given: not today",
  );
});

test("includes the causes of an error", () => {
  const refused = Object.assign(new Error("connect"), { code: "ECONNREFUSED" });
  expect(describeError(new Error("fetch failed", { cause: refused }))).toBe(
    "fetch failed: ECONNREFUSED",
  );
  expect(describeError(new Error("fetch failed", { cause: new Error("why") }))).toBe(
    "fetch failed: why",
  );
  expect(describeError(new Error("alone", { cause: "text" }))).toBe("alone");
  expect(describeError("a text")).toBe("a text");
});

describe("current activity of an agent", () => {
  const call = (id: string, tool: string, input: object): JobEvent =>
    ({ kind: "tool_call", id, tool, input }) as JobEvent;
  const result = (id: string, isError = false): JobEvent =>
    ({ kind: "tool_result", id, isError }) as JobEvent;

  test("shows reported progress before visible actions, and one of several jobs", () => {
    const doing = new ActivityTracker();
    expect(doing.text).toBe("starting");
    doing.addEvent({ kind: "started", cwd: "/work" } as JobEvent);
    doing.addEvent(call("p", "mcp__herd__progress", { text: "half", fraction: 0.5 }));
    doing.addEvent(call("1", "Read", { file_path: "/work/a" }));
    expect(doing.text).toBe("Read a");
    doing.addEvent(result("p"));
    expect(doing.text).toBe("50 % half · Read a");
    doing.addEvent(call("2", "Bash", { command: "ls" }));
    expect(doing.text).toBe("50 % half · Read a and 1 more");
    doing.addEvent(result("1"));
    doing.addEvent(result("2"));
    expect(doing.text).toBe("50 % half");
    doing.addEvent({ kind: "retry" } as JobEvent);
    expect(doing.text).toBe("waiting for the API");
  });

  test("omits progress that was refused", () => {
    const doing = new ActivityTracker();
    doing.addEvent(call("p", "mcp__herd__progress", { text: "half" }));
    doing.addEvent(result("p", true));
    expect(doing.text).toBe("thinking");
  });
});
