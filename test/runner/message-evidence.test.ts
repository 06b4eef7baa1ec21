import type { SDKMessage } from "@anthropic-ai/claude-agent-sdk";
import { describe, expect, test } from "vitest";
import { classifyOutcome } from "../../packages/core/src/runner/execution/classify-outcome.ts";
import {
  addMessage,
  type Evidence,
  emptyEvidence,
} from "../../packages/core/src/runner/execution/evidence.ts";
import { unknownModelWarnings } from "../../packages/core/src/runner/execution/silent-changes.ts";
import { contentText, toJobEvents } from "../../packages/protocol/src/events/job-event.ts";

/** A message of a claude that is older or newer than the types. */
const message = (fields: object) => fields as unknown as SDKMessage;
const evidenceFrom = (...messages: object[]): Evidence =>
  messages.map(message).reduce(addMessage, emptyEvidence());

describe("events of a message", () => {
  test.each<[string, object, object[]]>([
    ["a prompt in plain text", { type: "user", message: { content: "hi" } }, []],
    [
      "an image among results",
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
      "a denied tool",
      { type: "system", subtype: "permission_denied", tool_name: "Bash", message: "no" },
      [{ kind: "denied", tool: "Bash", reason: "no" }],
    ],
    [
      "an unknown kind of system message",
      { type: "system", subtype: "new" },
      [{ kind: "other", type: "system/new" }],
    ],
    ["an unknown kind of message", { type: "new" }, [{ kind: "other", type: "new" }]],
    [
      "a stream event without text",
      { type: "stream_event", event: { type: "content_block_start" } },
      [],
    ],
  ])("converts %s", (_what, fields, events) => {
    expect(toJobEvents(message(fields))).toEqual(events);
  });

  test("joins the text parts of a tool result", () => {
    expect(contentText("plain")).toBe("plain");
    expect(contentText([{ type: "text", text: "a" }, { type: "image" }, null])).toBe("a");
    expect(contentText({ other: 1 })).toBe("");
  });
});

describe("evidence of a message", () => {
  const change = { type: "system", original_model: "a", fallback_model: "b" };
  const denied = { type: "system", subtype: "permission_denied", tool_name: "Bash" };
  test.each<[string, object, RegExp[]]>([
    ["a refusal", { ...change, subtype: "model_refusal_fallback" }, [/a refused.*with b.*switchM/]],
    ["a final refusal", { ...change, subtype: "model_refusal_no_fallback" }, [/a refused; change/]],
    [
      "overload",
      { ...change, subtype: "model_fallback", trigger: "server_error" },
      [/server error/],
    ],
    [
      "no verdict",
      { ...denied, decision_reason_code: "auto_mode_no_check_in_session" },
      [/`permiss/],
    ],
    ["a denial", { ...denied, decision_reason_code: "rule" }, []],
  ])("warns once about what Claude Code changed by itself: %s", (_, fields, warnings) => {
    const found = evidenceFrom(fields, fields).warnings;
    expect(found).toEqual(warnings.map((pattern) => expect.stringMatching(pattern)));
  });

  test("warns about models that Claude Code does not know", () => {
    const line = '[claude-code:unrecognized_model] {"model":"nope","query_source":"sdk"}\n';
    const stderr = `${line}${line}[claude-code:unrecognized_model] {broken}\nother`;
    expect(unknownModelWarnings(stderr)).toEqual([
      "Claude Code does not know the model nope, and sent it to the API as it is; check `model` and `fallback_model`",
    ]);
  });

  test("maps a structured output that never matched to an outcome without a retry", () => {
    const failed = { type: "result", subtype: "error_max_structured_output_retries" };
    expect(classifyOutcome(evidenceFrom(failed))).toMatchObject({
      code: "report_missing",
      message: "The agent's structured output did not match its schema in five tries.",
    });
  });

  test("records a transcript that could not be written", () => {
    expect(evidenceFrom({ type: "system", subtype: "session_writes_lost" }).hasLostWrites).toBe(
      true,
    );
  });

  test("records a limit without a reset time", () => {
    const limit = { type: "rate_limit_event", rate_limit_info: { status: "rejected" } };
    expect(evidenceFrom(limit).limit).toEqual({ rejected: true, resetsAt: undefined });
  });

  test("records a failure without a text", () => {
    const failed = { type: "result", subtype: "error_during_execution", is_error: true };
    expect(evidenceFrom(failed).result).toMatchObject({
      errors: [],
      modelUsage: {},
      text: undefined,
    });
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

  test("records refusals of the fleet's tools on one line, and of no others", () => {
    const seen = evidenceFrom(
      call("1", "mcp__herd__delegate"),
      call("2", "Bash"),
      refusal("1", "<tool_use_error>not\n  now</tool_use_error>"),
      refusal("2", "exit 1"),
      refusal("unknown", "who?"),
    );
    expect(seen.toolRefusals).toEqual([{ tool: "delegate", reason: "not now" }]);
    expect(seen.openTools).toEqual([]);
  });

  test("records denials of a session file by the tool's own result, also for an unseen tool", () => {
    const init = { type: "system", subtype: "init", herdctl_synthesised: true };
    const denied = (...ids: [id: string, kind: string][]) => ({
      type: "user",
      message: { content: [] },
      tool_result_meta: ids.map(([id, kind]) => ({ id, non_execution_kind: kind })),
    });
    const seen = evidenceFrom(
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
