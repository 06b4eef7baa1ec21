import type { Job } from "@herdctl/server/contract";
import { describe, expect, test } from "vitest";
import { parseActivitySearch } from "../../packages/dashboard/src/pages/activity/search-params.ts";
import { toAnswerParts } from "../../packages/dashboard/src/pages/chat/answer-parts.ts";
import {
  mergeTurns,
  toConversations,
} from "../../packages/dashboard/src/pages/chat/conversation-summaries.ts";
import { toLimits } from "../../packages/dashboard/src/pages/costs/budget-limits.ts";
import { parseCostsSearch } from "../../packages/dashboard/src/pages/costs/search-params.ts";
import type { Entry } from "../../packages/dashboard/src/transcript/entry.ts";
import { memoryStores } from "../store/test-stores.ts";

/** A job record as the fleet creates it, with these changes. */
async function createJobRecord(more: Partial<Job>): Promise<Job> {
  const { jobs } = memoryStores();
  const { job } = await jobs.create({ agent: "coder", prompt: "p", trigger_type: "chat" });
  return { ...job, ...more };
}

describe("parameters of an address", () => {
  test("reads known parameters and ignores others", () => {
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

describe("conversations of the dashboard", () => {
  test("lists each job of a conversation once, in its latest version, in the order of the requests", async () => {
    const first = await createJobRecord({ id: "job-1", created_at: "2030-01-01T00:00:00.000Z" });
    const second = await createJobRecord({ id: "job-2", created_at: "2030-01-01T00:00:01.000Z" });
    const ended = { ...first, attempts: 1, finished_at: "2030-01-01T00:00:02.000Z" };
    const turns = mergeTurns([second, ended], undefined, [first]);
    expect(turns).toEqual([ended, second]);
  });

  test("groups all jobs of one session under the first prompt", async () => {
    const first = await createJobRecord({
      id: "job-1",
      prompt: "Hello\nthere",
      session_id: "s",
      finished_at: "2030-01-01T00:00:02.000Z",
    });
    const next = await createJobRecord({
      id: "job-2",
      resumed_from: "s",
      created_at: "2030-01-02T00:00:00.000Z",
    });
    const other = await createJobRecord({ id: "job-3", created_at: "2030-01-03T00:00:00.000Z" });
    const byHand = await createJobRecord({ id: "job-4", trigger_type: "manual", session_id: "s" });
    expect(toConversations([other, next, first, byHand])).toMatchObject([
      { id: "job-3", jobs: ["job-3"], isLive: true },
      { id: "s", jobs: ["job-1", "job-2"], title: "Hello", isLive: true },
    ]);
  });

  test("shows messages, groups the tools between them and shows what failed", () => {
    const common = { at: null, offset: 0, revision: 0, uuid: null, turn: null };
    const textEntry = (key: string): Entry => ({
      ...common,
      key,
      kind: "text",
      text: key,
      isStreaming: false,
    });
    const did = (key: string): Entry => ({
      ...common,
      ...{ key, kind: "tool", id: key, tool: "Bash", input: {}, isStreaming: false, endedAt: null },
      ...{ result: null, task: null, deniedReason: null, children: [], descendants: 0 },
    });
    const marked = (key: string, marker: "started" | "retry"): Entry => ({
      ...common,
      ...{ key, kind: "marker", marker, text: "", isError: false, retryDelayMs: null },
    });
    const parts = toAnswerParts([
      marked("begin", "started"),
      textEntry("a"),
      did("b"),
      did("c"),
      marked("again", "retry"),
      textEntry("d"),
    ]);
    expect(parts.map(({ kind, key }) => [kind, key])).toEqual([
      ["text", "a"],
      ["steps", "b"],
      ["marker", "again"],
      ["text", "d"],
    ]);
  });
});

describe("budget bars", () => {
  const none = { usd: null, jobs: null, tokens: null };
  const nothing = { usd: 0, jobs: 0, tokens: 0 };

  test("omits the bar of a budget without limits", () => {
    const line = { limits: none, spent: nothing, reserved_usd: 0, raised: nothing };
    expect(toLimits(line)).toEqual([]);
  });

  test("counts reserved costs, and ignores rounding noise at the limit", () => {
    const line = {
      limits: { ...none, usd: 0.3, jobs: 10 },
      spent: { ...nothing, usd: 0.1, jobs: 5 },
      reserved_usd: 0.2 - 1e-12,
      raised: nothing,
    };
    expect(toLimits(line)).toMatchObject([
      { kind: "usd", isUsedUp: true, text: "$0.30 of $0.30, including $0.20 reserved" },
      { kind: "jobs", isUsedUp: false, share: 0.5, text: "5 of 10 jobs" },
    ]);
  });
});
