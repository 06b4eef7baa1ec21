import type { SDKMessage } from "@anthropic-ai/claude-agent-sdk";
import { describe, expect, test } from "vitest";
import { addMessage, type Evidence, noEvidence } from "../../packages/core/src/runner/evidence.ts";
import { eventsOf, textOf } from "../../packages/core/src/runner/job-event.ts";

/** As it may come from a claude that is older or newer than the types. */
const message = (fields: object) => fields as unknown as SDKMessage;
const provenBy = (...messages: object[]): Evidence =>
  messages.map(message).reduce(addMessage, noEvidence());

describe("what a message tells", () => {
  test.each<[string, object, object[]]>([
    ["a prompt in plain text", { type: "user", message: { content: "hi" } }, []],
    [
      "a picture among results",
      {
        type: "user",
        parent_tool_use_id: null,
        message: { content: [{ type: "image" }, { type: "tool_result", tool_use_id: "1" }] },
      },
      [{ kind: "tool_result", id: "1", text: "", isError: false, parent: null }],
    ],
    [
      "a result without errors and cost",
      { type: "result", subtype: "error_during_execution", is_error: true, num_turns: 1 },
      [{ kind: "result", isError: true, text: "", costUsd: 0, turns: 1, durationMs: undefined }],
    ],
    [
      "a tool that was denied",
      { type: "system", subtype: "permission_denied", tool_name: "Bash", message: "no" },
      [{ kind: "denied", tool: "Bash", reason: "no" }],
    ],
    [
      "another kind of system message",
      { type: "system", subtype: "new" },
      [{ kind: "other", type: "system/new" }],
    ],
    ["another kind of message", { type: "new" }, [{ kind: "other", type: "new" }]],
    [
      "a piece that is no text",
      { type: "stream_event", event: { type: "content_block_start" } },
      [],
    ],
  ])("%s", (_what, fields, events) => {
    expect(eventsOf(message(fields))).toEqual(events);
  });

  test("the text of a tool's answer is the texts in it", () => {
    expect(textOf("plain")).toBe("plain");
    expect(textOf([{ type: "text", text: "a" }, { type: "image" }, null])).toBe("a");
    expect(textOf({ other: 1 })).toBe("");
  });
});

describe("what a message proves", () => {
  test("a transcript that could not be written", () => {
    expect(provenBy({ type: "system", subtype: "session_writes_lost" }).writesLost).toBe(true);
  });

  test("a limit that says no time", () => {
    const limit = { type: "rate_limit_event", rate_limit_info: { status: "rejected" } };
    expect(provenBy(limit).limit).toEqual({ rejected: true, resetsAt: undefined });
  });

  test("a failure without words", () => {
    const failed = { type: "result", subtype: "error_during_execution", is_error: true };
    expect(provenBy(failed).result).toMatchObject({ errors: [], modelUsage: {}, text: undefined });
  });

  const call = (id: string, name: string) => ({
    type: "assistant",
    parent_tool_use_id: null,
    message: { content: [{ type: "tool_use", id, name, input: {} }] },
  });
  const refusal = (tool_use_id: string, content: string) => ({
    type: "user",
    message: { content: [{ type: "tool_result", tool_use_id, is_error: true, content }] },
  });

  test("what the fleet's own tools refused, in one line, and nobody else's", () => {
    const seen = provenBy(
      call("1", "mcp__herd__delegate"),
      call("2", "Bash"),
      refusal("1", "<tool_use_error>not\n  now</tool_use_error>"),
      refusal("2", "exit 1"),
      refusal("unknown", "who?"),
    );
    expect(seen.herdRefusals).toEqual([{ tool: "delegate", reason: "not now" }]);
    expect(seen.openTools).toEqual([]);
  });

  test("denials from a session file, by the tool's own result, also of a tool not seen", () => {
    const init = { type: "system", subtype: "init", herdctl_synthesised: true };
    const denied = (...ids: [id: string, kind: string][]) => ({
      type: "user",
      message: { content: [] },
      tool_result_meta: ids.map(([id, kind]) => ({ id, non_execution_kind: kind })),
    });
    const seen = provenBy(
      init,
      call("1", "Bash"),
      denied(["1", "denied"], ["2", "denied"], ["3", "cancelled"]),
    );
    expect(seen.denials).toEqual([
      { tool: "Bash", toolUseId: "1" },
      { tool: "a tool", toolUseId: "2" },
    ]);
  });
});
