import type { Job } from "@herdctl/server/contract";
import { describe, expect, test } from "vitest";
import type { Entry } from "../../packages/dashboard/src/job/entry.ts";
import { parseActivitySearch } from "../../packages/dashboard/src/pages/activity/search.ts";
import { answerParts } from "../../packages/dashboard/src/pages/chat/answer-parts.ts";
import { talksOf, turnsOf } from "../../packages/dashboard/src/pages/chat/turns.ts";
import { limitsOf } from "../../packages/dashboard/src/pages/costs/limits.ts";
import { parseCostsSearch } from "../../packages/dashboard/src/pages/costs/search.ts";
import { memoryStores } from "../state/support.ts";

/** A record as the fleet makes it, with what the test says of it. */
async function jobWith(more: Partial<Job>): Promise<Job> {
  const { jobs } = memoryStores();
  const { job } = await jobs.create({ agent: "coder", prompt: "p", trigger_type: "chat" });
  return { ...job, ...more };
}

describe("what an address says", () => {
  test("is taken where it is known, and left out where it is not", () => {
    expect(parseCostsSearch({ by: "model", days: "7", agent: "coder" })).toEqual({
      by: "model",
      days: 7,
      agent: "coder",
    });
    expect(parseCostsSearch({ by: "person", days: 8, agent: 3 })).toEqual({});
    const odd = { status: "lost", since: "constructor", outcome: "max_turns", tab: "due" };
    expect(parseActivitySearch(odd)).toEqual({ outcome: "max_turns", tab: "due" });
  });
});

describe("a conversation", () => {
  test("has each job once, as it was told last, in the order in which they were asked for", async () => {
    const first = await jobWith({ id: "job-1", created_at: "2030-01-01T00:00:00.000Z" });
    const second = await jobWith({ id: "job-2", created_at: "2030-01-01T00:00:01.000Z" });
    const ended = { ...first, attempts: 1, finished_at: "2030-01-01T00:00:02.000Z" };
    const turns = turnsOf([second, ended], undefined, [first]);
    expect(turns).toEqual([ended, second]);
  });

  test("is all that ran in one session, and bears the words it began with", async () => {
    const first = await jobWith({
      id: "job-1",
      prompt: "Hello\nthere",
      session_id: "s",
      finished_at: "2030-01-01T00:00:02.000Z",
    });
    const next = await jobWith({
      id: "job-2",
      resumed_from: "s",
      created_at: "2030-01-02T00:00:00.000Z",
    });
    const other = await jobWith({ id: "job-3", created_at: "2030-01-03T00:00:00.000Z" });
    const byHand = await jobWith({ id: "job-4", trigger_type: "manual", session_id: "s" });
    expect(talksOf([other, next, first, byHand])).toMatchObject([
      { id: "job-3", jobs: ["job-3"], isLive: true },
      { id: "s", jobs: ["job-1", "job-2"], title: "Hello", isLive: true },
    ]);
  });

  test("shows words, what was done between them in one piece, and what went wrong", () => {
    const common = { at: null, offset: 0, revision: 0, uuid: null, turn: null };
    const said = (key: string): Entry => ({
      ...common,
      key,
      kind: "text",
      text: key,
      isOpen: false,
    });
    const did = (key: string): Entry => ({
      ...common,
      ...{ key, kind: "tool", id: key, tool: "Bash", input: {}, isOpen: false, endedAt: null },
      ...{ result: null, task: null, denied: null, children: [], descendants: 0 },
    });
    const marked = (key: string, marker: "started" | "retry"): Entry => ({
      ...common,
      ...{ key, kind: "marker", marker, text: "", isError: false, lastsMs: null },
    });
    const parts = answerParts([
      marked("begin", "started"),
      said("a"),
      did("b"),
      did("c"),
      marked("again", "retry"),
      said("d"),
    ]);
    expect(parts.map(({ kind, key }) => [kind, key])).toEqual([
      ["said", "a"],
      ["steps", "b"],
      ["marker", "again"],
      ["said", "d"],
    ]);
  });
});

describe("a budget", () => {
  const none = { usd: null, jobs: null, tokens: null };
  const nothing = { usd: 0, jobs: 0, tokens: 0 };

  test("without limits has no line", () => {
    const line = { limits: none, spent: nothing, reserved_usd: 0, raised: nothing };
    expect(limitsOf(line)).toEqual([]);
  });

  test("counts what is held, and is used up but for noise", () => {
    const line = {
      limits: { ...none, usd: 0.3, jobs: 10 },
      spent: { ...nothing, usd: 0.1, jobs: 5 },
      reserved_usd: 0.2 - 1e-12,
      raised: nothing,
    };
    expect(limitsOf(line)).toMatchObject([
      { kind: "usd", isUsedUp: true, words: "$0.30 of $0.30, $0.20 of it held" },
      { kind: "jobs", isUsedUp: false, share: 0.5, words: "5 of 10 jobs" },
    ]);
  });
});
