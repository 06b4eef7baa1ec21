import { describe, expect, test } from "vitest";
import { matchApprovals } from "../../packages/dashboard/src/job/asked.ts";
import { conversationOf } from "../../packages/dashboard/src/job/conversation.ts";
import { extentOf, timesOf } from "../../packages/dashboard/src/job/times.ts";
import {
  type Bar,
  type SpanKind,
  waterfallOf,
} from "../../packages/dashboard/src/job/waterfall.ts";
import { ticksOf } from "../../packages/dashboard/src/pages/job/ticks.ts";
import { until } from "../support/fleet-program.ts";
import { type Recording, recordingFleet, recordingOf, storyOf } from "./recorded.ts";

test("a person's answers are waits of the calls that they were about", async () => {
  const { fleet } = await recordingFleet();
  const { job } = await fleet.trigger({ trigger: "manual", agent: "careful", prompt: "careful" });
  for (const word of ["allow", "deny"] as const) {
    const [asked] = await until("a request", async () => {
      const open = await fleet.approvals();
      return open.length > 0 && open;
    });
    await fleet.answer(asked?.id ?? "", word, "me");
  }
  await fleet.wait(job.id);
  const recording = await recordingOf(fleet, job.id);
  const bars = barsOf(recording);
  const tools = bars.filter(({ label }) => label === "Bash");
  expect(tools.map(({ detail }) => detail)).toEqual(["touch x", "touch y"]);
  expect(tools.map(({ spans }) => spans.map(({ kind }) => kind))).toEqual([
    ["tool", "wait"],
    ["tool", "wait"],
  ]);
  const extent = extentOf(bars, Date.now());
  const times = timesOf(bars, extent);
  expect(times.wait).toBeGreaterThan(0);
  expect(times.api).toBeGreaterThan(0);
  const sum = Object.values(times).reduce((one, other) => one + other);
  expect(sum).toBeCloseTo(extent.end - extent.start, 3);
});

test("a job that was handed on stands below the call that gave it", async () => {
  const { record } = await recordingFleet();
  const recording = await record({ agent: "first", prompt: "hand on" });
  const bars = barsOf(recording);
  const at = bars.findIndex(({ label }) => label === "herd · delegate");
  expect(bars[at + 1]).toMatchObject({
    label: "second",
    jobId: recording.record.handedOn[0]?.id,
    depth: (bars[at]?.depth ?? 0) + 1,
    spans: [{ kind: "queue" }, { kind: "job", end: expect.any(Number) }],
  });
});

test("attempts stand in the conversation where each began, with the wait between them", async () => {
  const { record } = await recordingFleet();
  const { record: known, lines } = await record({ agent: "first", prompt: "overloaded" });
  const [first] = known.attempts;
  if (!first) return expect.fail("there was no attempt");
  const [began, ended] = [
    Date.parse(first.started_at) - 60_000,
    Date.parse(first.started_at) - 30_000,
  ];
  const time = (moment: number) => new Date(moment).toISOString();
  const earlier = { ...first, started_at: time(began), finished_at: time(ended) };
  const attempts = [
    { ...earlier, outcome_code: "overloaded" as const },
    { ...first, number: 2 },
  ];
  const recording = { record: { ...known, attempts }, lines };
  const story = storyOf(lines);
  const asked = matchApprovals([], []);
  const rows = conversationOf(story, recording.record, asked, { chosen: new Map() });
  expect(rows.slice(0, 2)).toMatchObject([
    { kind: "prompt" },
    { kind: "attempt", key: "attempt-2" },
  ]);
  const second = barsOf(recording).find(({ key }) => key === "attempt-2");
  expect(second?.spans[0]).toEqual({
    kind: "wait",
    start: ended,
    end: Date.parse(first.started_at),
  });
});

function barsOf({ record, lines }: Recording): Bar[] {
  const story = storyOf(lines);
  return waterfallOf(story, record, matchApprovals(record.approvals, story.tools.values()));
}

describe("where the time went", () => {
  const cases: [string, [SpanKind, number, number | null][], object][] = [
    ["nothing known is other", [], { other: 100 }],
    [
      "each moment counts once",
      [
        ["tool", 0, 60],
        ["tool", 40, 80],
      ],
      { tool: 80, other: 20 },
    ],
    [
      "a tool that runs while the model speaks is a tool",
      [
        ["api", 0, 50],
        ["tool", 30, 100],
      ],
      { api: 30, tool: 70 },
    ],
    [
      "who waits for a person waits",
      [
        ["tool", 0, 100],
        ["wait", 20, 90],
      ],
      { tool: 30, wait: 70 },
    ],
    ["what goes on lasts until now", [["api", 90, null]], { api: 10, other: 90 }],
    [
      "a subagent is what it does",
      [
        ["agent", 0, 100],
        ["api", 10, 20],
      ],
      { api: 10, other: 90 },
    ],
    [
      "what lies outside does not count",
      [
        ["queue", -50, 10],
        ["api", 95, 200],
      ],
      { queue: 10, api: 5, other: 85 },
    ],
  ];
  test.each(cases)("%s", (_name, spans, expected) => {
    const bars = spans.map(([kind, start, end], at) => ({
      ...nothing,
      key: String(at),
      spans: [{ kind, start, end }],
    }));
    const none = { queue: 0, start: 0, api: 0, tool: 0, wait: 0, retry: 0, other: 0 };
    expect(timesOf(bars, { start: 0, end: 100 })).toEqual({ ...none, ...expected });
  });
});

const nothing = { label: "", detail: "", depth: 0, isError: false, entryKey: null, jobId: null };

test.each([
  [0, 4_000, [0, 1_000, 2_000, 3_000]],
  [1_500, 5_500, [2_000, 3_000, 4_000, 5_000]],
  [0, 90_000, [0, 30_000, 60_000]],
  [5, 5, [0]],
])("between %i and %i ms there are a few round times", (from, to, expected) => {
  expect(ticksOf(from, to).map(({ at }) => at)).toEqual(expected);
});
