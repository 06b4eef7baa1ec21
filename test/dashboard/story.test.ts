import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Entry } from "../../packages/dashboard/src/job/entry.ts";
import { findErrors, findWords, wayTo } from "../../packages/dashboard/src/job/find.ts";
import { gistOf } from "../../packages/dashboard/src/job/gist.ts";
import { LineSplitter, type OutputLine } from "../../packages/dashboard/src/job/lines.ts";
import type { Story } from "../../packages/dashboard/src/job/story.ts";
import { tell } from "../../packages/dashboard/src/job/tell.ts";
import { claudeVersions } from "../support/claude.ts";
import { bytesOf, recordingFleet, storyOf, toolCalls } from "./recorded.ts";

const rich = [
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

describe.each(claudeVersions)("what claude %s said", (version) => {
  test("reads the same whether or not it was seen growing, and however it was cut", async () => {
    const { record } = await recordingFleet(version);
    const quiet = await record({ agent: "first", prompt: "rich" });
    const watched = await record({ agent: "first", prompt: "rich", watched: true });
    const story = storyOf(watched.lines);
    expect(outlineOf(storyOf(quiet.lines)).slice(0, rich.length)).toEqual(rich);
    // The second time, the file is there already: an older claude wants to have read it first.
    const written = version === "197" ? "new.txt, failed" : "new.txt";
    const again = rich.map((line) => line.replace("new.txt, changed", written));
    expect(outlineOf(story).slice(0, rich.length)).toEqual(again);

    expect(toolCalls(story).every(({ isOpen }) => !isOpen)).toBe(true);
    expect(toolCalls(story).every(({ at, endedAt }) => (at ?? 1) <= (endedAt ?? 0))).toBe(true);
    expect(story.turns.every(({ usage }) => (usage?.input ?? 0) > 0)).toBe(true);
    const spent = story.entries.map((entry) => (entry.kind === "end" ? (entry.costUsd ?? 0) : 0));
    expect(spent.reduce((sum, one) => sum + one)).toBeCloseTo(watched.record.job.cost_usd ?? 0);
    expectSameHoweverCut(watched.lines);
  });
});

test("a retry is told with its reason and how long it lasts", async () => {
  const { record } = await recordingFleet();
  const { lines } = await record({ agent: "first", prompt: "overloaded" });
  const found = storyOf(lines).entries.find(
    (entry) => entry.kind === "marker" && entry.marker === "retry",
  );
  expect(found).toMatchObject({
    text: expect.stringMatching(/^Retry 1 of \d+: 529 overloaded$/),
    lastsMs: expect.any(Number),
    at: expect.any(Number),
  });
});

/** Cut anywhere into pieces, and begun anew in between as after a broken connection. */
function expectSameHoweverCut(lines: readonly OutputLine[]): void {
  const bytes = bytesOf(lines);
  const whole = storyOf(lines);
  const cuts = fc.array(fc.nat(bytes.length), { maxLength: 40 });
  fc.assert(
    fc.property(cuts, fc.nat(lines.length), (places, again) => {
      const story = storyOf(lines.slice(0, again));
      const splitter = new LineSplitter();
      const edges = [0, ...places.sort((a, b) => a - b), bytes.length];
      for (const [at, edge] of edges.entries())
        for (const line of splitter.push(bytes.subarray(edges[at - 1] ?? 0, edge)))
          tell(story, line);
      expect(story).toEqual(whole);
    }),
    { numRuns: 30 },
  );
}

function outlineOf({ entries, cwd }: Story): string[] {
  const lines = (list: readonly Entry[], indent: string): string[] =>
    list.flatMap((entry) => {
      const below = entry.kind === "tool" ? lines(entry.children, `${indent}  `) : [];
      return [indent + wordsFor(entry, cwd), ...below];
    });
  return lines(entries, "");
}

function wordsFor(entry: Entry, cwd: string | null): string {
  if (entry.kind === "marker") return entry.marker;
  if (entry.kind === "end") return "end";
  if (entry.kind !== "tool") return `${entry.kind} ${entry.text}`;
  const { result } = entry;
  const more = [
    result?.isError && "failed",
    result?.diff && "changed",
    result?.images.length && "picture",
  ].filter(Boolean);
  return [`${entry.tool} ${gistOf(entry, cwd)}`, ...more].join(", ");
}

describe("what is looked for", () => {
  const story = storyOf(
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
  ])("the words %j are found in any depth", (words, expected) => {
    const found = findWords(story.entries, words);
    expect(found.map((key) => key.replace(/^s.*/, "s1"))).toEqual(expected);
  });

  test("errors are found in order, with the way to each", () => {
    const errors = findErrors(story.entries);
    expect(errors).toEqual(["b", expect.stringMatching(/^e/)]);
    expect(wayTo(story.entries, "b")).toEqual(["a"]);
  });
});

/** Shapes that the real claude has shown, each in the smallest form. */
const cases: [string, object[], object[]][] = [
  [
    "a stream that breaks off leaves what was said, and the next try begins anew",
    [
      piece({ type: "message_start", message: { id: "m1" } }),
      piece({ type: "content_block_start", index: 0, content_block: { type: "text" } }),
      piece({ type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "Hal" } }),
      piece({ type: "message_start", message: { id: "m2" } }),
      piece({ type: "content_block_start", index: 0, content_block: { type: "text" } }),
      piece({ type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "Hel" } }),
    ],
    [
      { kind: "text", text: "Hal", isOpen: false, turn: { number: 1 } },
      { kind: "text", text: "Hel", isOpen: true, turn: { number: 2 } },
    ],
  ],
  [
    "usage of a turn is what its end says",
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
    "a denied tool says why",
    [
      assistant("m1", { type: "tool_use", id: "a", name: "Bash", input: {} }),
      { type: "system", subtype: "permission_denied", tool_use_id: "a", message: "not allowed" },
    ],
    [{ kind: "tool", denied: "not allowed" }],
  ],
  [
    "a picture that could be more than a picture is not shown as one",
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
    "an interruption is told where it was",
    [{ type: "user", message: { content: [{ type: "text", text: "[Request interrupted]" }] } }],
    [{ kind: "heard", text: "[Request interrupted]" }],
  ],
  [
    "a limit that is reached is news, one that is near is not",
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
        text: "The limit is reached until 2027-01-15T08:00:00.000Z",
        isError: true,
      },
    ],
  ],
  [
    "costs of a resumed session count on, and each result shows what it added",
    [
      { type: "result", subtype: "success", total_cost_usd: 0.5 },
      { type: "result", subtype: "success", total_cost_usd: 0.75 },
    ],
    [{ costUsd: 0.5 }, { costUsd: 0.25 }],
  ],
  [
    "what nobody knows is passed over",
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
