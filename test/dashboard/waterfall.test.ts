import { describe, expect, test } from "vitest";
import { computeTicks } from "../../packages/dashboard/src/pages/job/axis-ticks.ts";
import { toConversationRows } from "../../packages/dashboard/src/transcript/conversation-rows.ts";
import { matchApprovals } from "../../packages/dashboard/src/transcript/match-approvals.ts";
import {
  computeTimeBreakdown,
  extentOf,
} from "../../packages/dashboard/src/transcript/time-breakdown.ts";
import {
  type Bar,
  type SpanKind,
  toWaterfallBars,
} from "../../packages/dashboard/src/transcript/waterfall-bars.ts";
import { waitUntil } from "../support/fleet-child-process.ts";
import {
  type RecordedJob,
  readRecordedJob,
  startRecordingFleet,
  storyOf,
} from "./recording-fleet.ts";

test("shows a person's answer as a wait of its call", async () => {
  const { fleet } = await startRecordingFleet();
  const { job } = await fleet.jobs.trigger({ agent: "careful", prompt: "careful" });
  for (const word of ["allow", "deny"] as const) {
    const [asked] = await waitUntil("a request", async () => {
      const open = await fleet.approvals.list();
      return open.length > 0 && open;
    });
    await fleet.approvals.answer(asked?.id ?? "", word, { note: "me" });
  }
  await fleet.jobs.wait(job.id);
  const recording = await readRecordedJob(fleet, job.id);
  const bars = barsOf(recording);
  const tools = bars.filter(({ label }) => label === "Bash");
  expect(tools.map(({ detail }) => detail)).toEqual(["touch x", "touch y"]);
  expect(tools.map(({ spans }) => spans.map(({ kind }) => kind))).toEqual([
    ["tool", "wait"],
    ["tool", "wait"],
  ]);
  const extent = extentOf(bars, Date.now());
  const times = computeTimeBreakdown(bars, extent);
  expect(times.wait).toBeGreaterThan(0);
  expect(times.api).toBeGreaterThan(0);
  const sum = Object.values(times).reduce((one, other) => one + other);
  expect(sum).toBeCloseTo(extent.end - extent.start, 3);
});

test("places a delegated job below the call that delegated it", async () => {
  const { recordJob } = await startRecordingFleet();
  const recording = await recordJob({ agent: "first", prompt: "hand on" });
  const bars = barsOf(recording);
  const at = bars.findIndex(({ label }) => label === "herd · delegate");
  expect(bars[at + 1]).toMatchObject({
    label: "second",
    jobId: recording.record.delegatedJobs[0]?.id,
    depth: (bars[at]?.depth ?? 0) + 1,
    spans: [{ kind: "queue" }, { kind: "job", end: expect.any(Number) }],
  });
});

test("places attempts at their start, with the wait between them", async () => {
  const { recordJob } = await startRecordingFleet();
  const { record: known, lines } = await recordJob({ agent: "first", prompt: "overloaded" });
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
  const transcript = storyOf(lines);
  const asked = matchApprovals([], []);
  const rows = toConversationRows(transcript, recording.record, asked, { overrides: new Map() });
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

function barsOf({ record, lines }: RecordedJob): Bar[] {
  const transcript = storyOf(lines);
  return toWaterfallBars(
    transcript,
    record,
    matchApprovals(record.approvals, transcript.tools.values()),
  );
}

describe("breakdown of the time", () => {
  const cases: [string, [SpanKind, number, number | null][], object][] = [
    ["counts time without information as other", [], { other: 100 }],
    [
      "counts each moment once",
      [
        ["tool", 0, 60],
        ["tool", 40, 80],
      ],
      { tool: 80, other: 20 },
    ],
    [
      "counts a tool during model output as a tool",
      [
        ["api", 0, 50],
        ["tool", 30, 100],
      ],
      { api: 30, tool: 70 },
    ],
    [
      "counts waiting for a person as waiting",
      [
        ["tool", 0, 100],
        ["wait", 20, 90],
      ],
      { tool: 30, wait: 70 },
    ],
    ["counts an unfinished call until now", [["api", 90, null]], { api: 10, other: 90 }],
    [
      "counts a subagent by its calls",
      [
        ["agent", 0, 100],
        ["api", 10, 20],
      ],
      { api: 10, other: 90 },
    ],
    [
      "ignores what is outside the job",
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
    expect(computeTimeBreakdown(bars, { start: 0, end: 100 })).toEqual({ ...none, ...expected });
  });
});

const nothing = { label: "", detail: "", depth: 0, isError: false, entryKey: null, jobId: null };

test.each([
  [0, 4_000, [0, 1_000, 2_000, 3_000]],
  [1_500, 5_500, [2_000, 3_000, 4_000, 5_000]],
  [0, 90_000, [0, 30_000, 60_000]],
  [5, 5, [0]],
])("marks a few round times between %i and %i ms", (from, to, expected) => {
  expect(computeTicks(from, to).map(({ at }) => at)).toEqual(expected);
});
