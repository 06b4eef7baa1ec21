import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { applyOutputLine } from "../../packages/dashboard/src/transcript/apply-output-line.ts";
import type { Entry } from "../../packages/dashboard/src/transcript/entry.ts";
import {
  ancestorKeys,
  findEntriesWithText,
  findErrorEntries,
} from "../../packages/dashboard/src/transcript/find-entries.ts";
import {
  LineSplitter,
  type OutputLine,
} from "../../packages/dashboard/src/transcript/line-splitter.ts";
import { summarizeToolCall } from "../../packages/dashboard/src/transcript/summarize-tool-call.ts";
import type { Transcript } from "../../packages/dashboard/src/transcript/transcript.ts";
import { claudeVersions } from "../support/claude-binaries.ts";
import { bytesOf, startRecordingFleet, storyOf, toolCalls } from "./recording-fleet.ts";

const expectedOutline = [
  "started",
  "thinking Look.",
  "text I **look** first.",
  "Bash ls -1",
  "Bash exit 3, failed",
  "Read a.ts",
  "Edit a.ts, changed",
  "Write new.txt, changed",
  "Read dot.png, picture",
  "Agent Count",
  "  Bash ls | wc -l",
  "Bash sleep 0.4",
  "text All done.",
  "end",
];

/** Older versions of Claude Code keep the texts of subagents to themselves. */
function outlineOf(version: string): string[] {
  if (version === "197") return expectedOutline;
  const at = expectedOutline.indexOf("  Bash ls | wc -l");
  return expectedOutline.toSpliced(
    at,
    1,
    "  text Counting.",
    "  Bash ls | wc -l",
    "  text There are four.",
  );
}

describe.each(claudeVersions)("transcript of claude %s", (version) => {
  test("reads the same from a growing and a finished log, however it was split", async () => {
    const { recordJob } = await startRecordingFleet(version);
    const quiet = await recordJob({ agent: "first", prompt: "rich" });
    const watched = await recordJob({ agent: "first", prompt: "rich", stream: true });
    const transcript = storyOf(watched.lines);
    const expected = outlineOf(version);
    expect(outline(storyOf(quiet.lines)).slice(0, expected.length)).toEqual(expected);
    // The file exists the second time, and an older claude insists on reading it first.
    const written = version === "197" ? "new.txt, failed" : "new.txt";
    const again = expected.map((line) => line.replace("new.txt, changed", written));
    expect(outline(transcript).slice(0, expected.length)).toEqual(again);

    expect(toolCalls(transcript).every(({ isStreaming }) => !isStreaming)).toBe(true);
    expect(toolCalls(transcript).every(({ at, endedAt }) => (at ?? 1) <= (endedAt ?? 0))).toBe(
      true,
    );
    expect(transcript.turns.every(({ usage }) => (usage?.input ?? 0) > 0)).toBe(true);
    const spent = transcript.entries.map((entry) =>
      entry.kind === "end" ? (entry.costUsd ?? 0) : 0,
    );
    expect(spent.reduce((sum, one) => sum + one)).toBeCloseTo(watched.record.job.cost_usd ?? 0);
    expectSameForAnySplit(watched.lines);
  });
});

test("shows a retry with its reason and duration", async () => {
  const { recordJob } = await startRecordingFleet();
  const { lines } = await recordJob({ agent: "first", prompt: "overloaded" });
  const found = storyOf(lines).entries.find(
    (entry) => entry.kind === "marker" && entry.marker === "retry",
  );
  expect(found).toMatchObject({
    text: expect.stringMatching(/^Retry 1 of \d+: 529 overloaded$/),
    retryDelayMs: expect.any(Number),
    at: expect.any(Number),
  });
});

/** Splits the bytes at random positions and restarts in between, as after a lost connection. */
function expectSameForAnySplit(lines: readonly OutputLine[]): void {
  const bytes = bytesOf(lines);
  const whole = storyOf(lines);
  const cuts = fc.array(fc.nat(bytes.length), { maxLength: 40 });
  fc.assert(
    fc.property(cuts, fc.nat(lines.length), (places, again) => {
      const transcript = storyOf(lines.slice(0, again));
      const splitter = new LineSplitter();
      const edges = [0, ...places.sort((a, b) => a - b), bytes.length];
      for (const [at, edge] of edges.entries())
        for (const line of splitter.push(bytes.subarray(edges[at - 1] ?? 0, edge)))
          applyOutputLine(transcript, line);
      expect(transcript).toEqual(whole);
    }),
    { numRuns: 30 },
  );
}

function outline({ entries, cwd }: Transcript): string[] {
  const lines = (list: readonly Entry[], indent: string): string[] =>
    list.flatMap((entry) => {
      const below = entry.kind === "tool" ? lines(entry.children, `${indent}  `) : [];
      return [indent + describeEntry(entry, cwd), ...below];
    });
  return lines(entries, "");
}

function describeEntry(entry: Entry, cwd: string | null): string {
  if (entry.kind === "marker") return entry.marker;
  if (entry.kind === "end") return "end";
  if (entry.kind !== "tool") return `${entry.kind} ${entry.text}`;
  const { result } = entry;
  const more = [
    result?.isError && "failed",
    result?.diff && "changed",
    result?.images.length && "picture",
  ].filter(Boolean);
  return [`${entry.tool} ${summarizeToolCall(entry, cwd)}`, ...more].join(", ");
}

describe("search in a transcript", () => {
  const transcript = storyOf(
    linesOf(
      assistant("m1", { type: "tool_use", id: "a", name: "Agent", input: { description: "x" } }),
      { ...assistant("m2", { type: "text", text: "Hidden Words" }), parent_tool_use_id: "a" },
      {
        ...assistant("m2", { type: "tool_use", id: "b", name: "Bash", input: { command: "no" } }),
        parent_tool_use_id: "a",
      },
      {
        ...results({ tool_use_id: "b", content: "not found", is_error: true }),
        parent_tool_use_id: "a",
      },
      results({ tool_use_id: "a", content: "done" }),
      { type: "result", subtype: "error_max_turns", is_error: true, errors: ["Too many turns"] },
    ),
  );

  test.each([
    ["hidden words", ["s1"]],
    ["NOT FOUND", ["b"]],
    ["bash", ["b"]],
    ["  ", []],
    ["nowhere", []],
  ])("finds the words %j at any depth", (words, expected) => {
    const found = findEntriesWithText(transcript.entries, words);
    expect(found.map((key) => key.replace(/^s.*/, "s1"))).toEqual(expected);
  });

  test("finds errors in order, with the path to each", () => {
    const errors = findErrorEntries(transcript.entries);
    expect(errors).toEqual(["b", expect.stringMatching(/^e/)]);
    expect(ancestorKeys(transcript.entries, "b")).toEqual(["a"]);
  });
});

/** Message shapes of the real claude, each reduced to a minimum. */
const cases: [string, object[], object[]][] = [
  [
    "keeps the text of a broken stream and starts the next attempt separately",
    [
      piece({ type: "message_start", message: { id: "m1" } }),
      piece({ type: "content_block_start", index: 0, content_block: { type: "text" } }),
      piece({ type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "Hal" } }),
      piece({ type: "message_start", message: { id: "m2" } }),
      piece({ type: "content_block_start", index: 0, content_block: { type: "text" } }),
      piece({ type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "Hel" } }),
    ],
    [
      { kind: "text", text: "Hal", isStreaming: false, turn: { number: 1 } },
      { kind: "text", text: "Hel", isStreaming: true, turn: { number: 2 } },
    ],
  ],
  [
    "takes the usage of a turn from its end",
    [
      piece({
        type: "message_start",
        message: { id: "m1", usage: { input_tokens: 5, output_tokens: 1 } },
      }),
      { ...assistant("m1", { type: "text", text: "Hi" }) },
      piece({ type: "message_delta", usage: { input_tokens: 5, output_tokens: 93 } }),
    ],
    [{ text: "Hi", turn: { usage: { input: 5, output: 93, cacheRead: 0, cacheWrite: 0 } } }],
  ],
  [
    "shows the reason of a denied tool",
    [
      assistant("m1", { type: "tool_use", id: "a", name: "Bash", input: {} }),
      { type: "system", subtype: "permission_denied", tool_use_id: "a", message: "not allowed" },
    ],
    [{ kind: "tool", deniedReason: "not allowed" }],
  ],
  [
    "does not render an SVG image",
    [
      assistant("m1", { type: "tool_use", id: "a", name: "Read", input: {} }),
      results({
        tool_use_id: "a",
        content: [
          { type: "image", source: { media_type: "image/svg+xml", data: "PHN2Zz4=" } },
          { type: "image", source: { media_type: "image/png", data: '"><script>' } },
        ],
      }),
    ],
    [{ kind: "tool", result: { images: [] } }],
  ],
  [
    "shows an interruption at its position",
    [{ type: "user", message: { content: [{ type: "text", text: "[Request interrupted]" }] } }],
    [{ kind: "user", text: "[Request interrupted]" }],
  ],
  [
    "shows a limit that was reached, but not one that is near",
    [
      { type: "rate_limit_event", rate_limit_info: { status: "allowed" } },
      {
        type: "rate_limit_event",
        rate_limit_info: { status: "rejected", resetsAt: 1_800_000_000 },
      },
    ],
    [
      {
        marker: "limit",
        text: "Usage limit reached; resets at 2027-01-15T08:00:00.000Z",
        isError: true,
      },
    ],
  ],
  [
    "shows the cost that each result of a resumed session added",
    [
      { type: "result", subtype: "success", total_cost_usd: 0.5 },
      { type: "result", subtype: "success", total_cost_usd: 0.75 },
    ],
    [{ costUsd: 0.5 }, { costUsd: 0.25 }],
  ],
  [
    "skips unknown messages",
    [
      { type: "of tomorrow" },
      {},
      { type: "assistant" },
      { type: "user", message: 7 },
      { type: "stream_event", event: [] },
    ],
    [],
  ],
];

test.each(cases)("%s", (_name, messages, expected) => {
  expect(storyOf(linesOf(...messages)).entries).toMatchObject(expected);
  expect(storyOf(linesOf(...messages)).entries).toHaveLength(expected.length);
});

function linesOf(...messages: object[]): OutputLine[] {
  return messages.map((message, at) => ({ message: { ...message }, offset: (at + 1) * 100 }));
}

function assistant(id: string, ...content: object[]) {
  return { type: "assistant", message: { id, content } };
}

function results(block: object) {
  return { type: "user", message: { content: [{ type: "tool_result", ...block }] } };
}

function piece(event: object) {
  return { type: "stream_event", event };
}
