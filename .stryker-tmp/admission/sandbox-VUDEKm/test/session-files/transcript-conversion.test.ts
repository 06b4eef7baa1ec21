import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { readSessionFile } from "../../packages/core/src/claude/session-files/follow-session-file.ts";
import type { FileMessage } from "../../packages/core/src/claude/session-files/message-types.ts";
import { SessionConverter } from "../../packages/core/src/claude/session-files/session-converter.ts";
import { parseLine } from "../../packages/core/src/claude/session-files/session-line.ts";
import { readTranscript } from "../../packages/core/src/claude/session-files/transcript.ts";

/** The stdout and the session file of the same run of a real binary. */
const recordings = fileURLToPath(new URL("fixtures", import.meta.url));
const names = readdirSync(recordings);

interface StdoutMessage {
  type: string;
  subtype?: string;
  uuid: string;
  parent_tool_use_id?: string | null;
  message?: { content: unknown };
  [other: string]: unknown;
}

function stdoutOf(name: string): StdoutMessage[] {
  const text = readFileSync(join(recordings, name, "stdout.jsonl"), "utf8");
  return text
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
}

async function convert(name: string) {
  const { since } = JSON.parse(readFileSync(join(recordings, name, "case.json"), "utf8"));
  const converter = new SessionConverter({ since });
  const messages: FileMessage[] = [];
  for await (const { line, subagent } of readSessionFile(join(recordings, name, "session.jsonl"))) {
    messages.push(...converter.convert(line, subagent));
  }
  messages.push(...converter.finish());
  return { messages, converter };
}

const isConversation = (message: { type: string }) =>
  message.type === "assistant" || message.type === "user";

/** The parts that both sources have; stdout sends a message before its usage is known. */
function comparableParts(message: StdoutMessage) {
  const { type, uuid, session_id, parent_tool_use_id, isReplay, isSynthetic, error } = message;
  const { tool_use_result, tool_result_meta, subagent_type, task_description } = message;
  const content = message.message?.content;
  return {
    ...{ type, uuid, session_id, parent_tool_use_id, content, isReplay, isSynthetic, error },
    ...{ tool_use_result, tool_result_meta, subagent_type, task_description },
  };
}

const comparableMessages = (messages: readonly object[]) =>
  (messages as StdoutMessage[])
    .filter(isConversation)
    .map(comparableParts)
    .sort((a, b) => (a.uuid < b.uuid ? -1 : 1));

describe.each(names)("%s", (name) => {
  test("converts to the conversation of stdout, uuid by uuid", async () => {
    const { messages } = await convert(name);
    const isMain = (message: { parent_tool_use_id?: unknown }) =>
      message.parent_tool_use_id === null;
    expect(comparableMessages(messages).filter(isMain)).toEqual(
      comparableMessages(stdoutOf(name)).filter(isMain),
    );
  });

  test("starts with a synthesised init", async () => {
    const { messages } = await convert(name);
    const init = stdoutOf(name).find((message) => message.subtype === "init");
    expect(messages[0]).toMatchObject({
      type: "system",
      subtype: "init",
      herdctl_synthesised: true,
      session_id: init?.session_id,
      cwd: "/workspace",
      claude_code_version: init?.claude_code_version,
    });
    expect(
      messages.filter((message) => "subtype" in message && message.subtype === "init"),
    ).toHaveLength(1);
  });

  test("ends with a synthesised copy of stdout's result, or with none", async () => {
    const { messages } = await convert(name);
    const expected = stdoutOf(name).findLast((message) => message.type === "result");
    const result = messages.find((message) => message.type === "result");
    if (expected === undefined) return expect(result).toBeUndefined();
    expect(result).toMatchObject({
      subtype: expected.subtype,
      is_error: expected.is_error,
      session_id: expected.session_id,
      herdctl_synthesised: true,
    });
    expect(result).not.toHaveProperty("permission_denials");
    for (const key of ["result", "api_error_status", "errors"] as const) {
      if (key in expected && name.startsWith("interrupted") === false) {
        expect(result?.[key] ?? null).toEqual(expected[key]);
      }
    }
  });

  test("takes the cost of stdout where the file has one, and none otherwise", async () => {
    const { messages } = await convert(name);
    const expected = stdoutOf(name).findLast((message) => message.type === "result");
    const result = messages.find((message) => message.type === "result");
    const cost = name.endsWith("325") ? expected?.total_cost_usd : undefined;
    expect(result?.total_cost_usd).toBe(cost);
  });

  test("contains no unknown or broken line", async () => {
    const { converter } = await convert(name);
    expect(converter.unknown).toEqual({});
    const { skipped } = await readTranscript(join(recordings, name, "session.jsonl"));
    expect(skipped).toEqual({});
  });

  test("gives the same messages when converted again", async () => {
    expect((await convert(name)).messages).toEqual((await convert(name)).messages);
  });
});

test.each(
  ["text", "parallel", "tool-error", "max-turns"].flatMap((name) => [`${name}-325`, `${name}-197`]),
)("counts a message once, however many lines it has (%s)", async (name) => {
  const { messages } = await convert(name);
  const expected = stdoutOf(name).findLast((message) => message.type === "result");
  const result = messages.find((message) => message.type === "result");
  expect(expected?.usage).toMatchObject({ ...result?.usage });
  expect(result?.num_turns).toBe(expected?.num_turns);
  expect(result?.stop_reason).toBe(expected?.stop_reason);
  const [model] = Object.values(result?.modelUsage ?? {});
  const [theirs] = Object.values(expected?.modelUsage ?? {});
  expect(model).toMatchObject({
    inputTokens: expect.any(Number),
    outputTokens: expect.any(Number),
  });
  expect(theirs).toMatchObject(name.endsWith("197") ? Object(model) : {});
});

test("names the tool call that started a subagent in its messages", async () => {
  const inner = (messages: readonly object[]) =>
    comparableMessages(messages).filter((message) => message.parent_tool_use_id !== null);
  const converted = inner((await convert("subagent-325")).messages);
  expect(converted).toEqual(inner(stdoutOf("subagent-325")));
  expect(converted.length).toBeGreaterThan(2);

  // 197 omits what a subagent writes between its tools, and includes its prompt.
  const ours = new Map(
    inner((await convert("subagent-197")).messages).map((message) => [message.uuid, message]),
  );
  const theirs = inner(stdoutOf("subagent-197")).filter((message) => ours.has(message.uuid));
  expect(theirs.length).toBeGreaterThan(1);
  for (const message of theirs) expect(ours.get(message.uuid)).toEqual(message);
});

test("places a subagent's lines between the call and its result", async () => {
  const { messages } = await convert("subagent-197");
  const parents = messages
    .filter(isConversation)
    .map((message) => ("parent_tool_use_id" in message ? message.parent_tool_use_id : null));
  const first = parents.findIndex((parent) => parent !== null);
  const last = parents.findLastIndex((parent) => parent !== null);
  expect(first).toBe(2);
  expect(last).toBeLessThan(parents.length - 1);
});

test.each([
  ["text-325", "finished"],
  ["text-197", "finished"],
  ["subagent-325", "finished"],
  ["compact-325", "finished"],
  ["compact-197", "finished"],
  ["api-error-325", "api_error"],
  ["api-error-197", "api_error"],
  ["max-turns-325", "max_turns"],
  ["max-turns-197", "max_turns"],
  ["interrupted-325", "interrupted"],
  ["interrupted-197", "interrupted"],
  ["killed-325", "open"],
  ["killed-197", "open"],
])("reports for the transcript of %s that its last turn is %s", async (name, turn) => {
  const transcript = await readTranscript(join(recordings, name, "session.jsonl"));
  expect(transcript.turn).toBe(turn);
  expect(transcript.lastUuid).toMatch(/^[0-9a-f-]{36}$/);
  expect(transcript.openTools).toHaveLength(turn === "open" ? 1 : 0);
});

test("reports a compaction like stdout", async () => {
  for (const name of ["compact-325", "compact-197"]) {
    const { messages } = await convert(name);
    const find = (all: readonly object[]) =>
      (all as StdoutMessage[]).find((message) => message.subtype === "compact_boundary");
    const ours = find(messages);
    expect(ours?.uuid).toBe(find(stdoutOf(name))?.uuid);
    expect(ours?.compact_metadata).toMatchObject(Object(find(stdoutOf(name))?.compact_metadata));
  }
});

test("ignores a cost from before the last answer", async () => {
  const [answer, cost] = [
    '{"type":"assistant","uuid":"2","sessionId":"s","message":{"role":"assistant","id":"m","model":"x","content":[],"stop_reason":"end_turn","usage":{"input_tokens":1}}}',
    '{"type":"cost-state","totalCostUSD":1.5}',
  ];
  const fold = (lines: string[]) => {
    const converter = new SessionConverter();
    for (const text of lines) {
      const parsed = parseLine(Buffer.from(text));
      if (parsed.kind === "line") converter.convert(parsed.line);
    }
    return converter.finish()[0];
  };
  expect(fold([answer, cost])).toMatchObject({ total_cost_usd: 1.5 });
  expect(fold([cost, answer])).toMatchObject({ total_cost_usd: undefined });
});

test("counts odd lines without converting them", () => {
  const converter = new SessionConverter({ model: "asked-for" });
  const convertText = (text: string) => {
    const parsed = parseLine(Buffer.from(text));
    return parsed.kind === "line" ? converter.convert(parsed.line) : [];
  };
  expect(convertText('{"type":"brand-new","sessionId":"s"}')).toEqual([]);
  expect(
    convertText('{"type":"user","uuid":"1","sessionId":"s","cwd":"/w","message":3}'),
  ).toMatchObject([{ subtype: "init", model: "asked-for" }]);
  expect(convertText('{"type":"assistant","uuid":"1","sessionId":"s"}')).toEqual([]);
  expect(convertText('{"type":"assistant","message":{"role":"assistant","content":[]}}')).toEqual(
    [],
  );
  expect(convertText('{"type":"cost-state","totalCostUSD":"many"}')).toEqual([]);
  expect(converter.unknown).toEqual({ "brand-new": 1 });
  expect(converter.finish()).toEqual([]);
});

test("converts the output of a terminal command to an assistant message", () => {
  const converter = new SessionConverter();
  const parsed = parseLine(
    Buffer.from(
      '{"type":"system","subtype":"local_command","uuid":"1","sessionId":"s","content":"<local-command-stderr>Error: x</local-command-stderr>"}',
    ),
  );
  if (parsed.kind !== "line") return expect.fail("it did not parse");
  expect(converter.convert(parsed.line)).toMatchObject([
    { type: "assistant", uuid: "1", message: { content: [{ type: "text", text: "Error: x" }] } },
  ]);
});
