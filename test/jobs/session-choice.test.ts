import type { SessionLease, SessionLeaseHolder } from "@herdctl/protocol";
import { describe, expect, test } from "vitest";
import {
  planSession,
  type SessionFacts,
  sessionRule,
} from "../../packages/core/src/jobs/attempts/session-plan.ts";
import { decideLease, type Liveness } from "../../packages/core/src/store/model/session-lease.ts";
import type { Session } from "../../packages/protocol/src/records/session.ts";
import { agentOf, inlineAgent, loadTestFleet } from "../support/fleet-config.ts";

const known: Session = {
  session_id: "s1",
  agent: "a",
  session_home: "cli",
  cwd: "/w",
  config_dir: null,
  created_at: "2030-01-01T00:00:00.000Z",
  last_used_at: "2030-01-01T00:00:00.000Z",
  expires_at: "2030-01-02T00:00:00.000Z",
  job_id: null,
  node: null,
  schedule: null,
  in_chat: false,
  cost_total_usd: 0,
  usage_total: null,
  turns: 1,
};
const facts: SessionFacts = {
  place: "cli",
  cwd: "/w",
  now: new Date("2030-01-01T12:00:00Z"),
  wish: { kind: "latest" },
  known,
  transcriptExists: true,
};

describe("session of a job", () => {
  const resume = { kind: "resume", sessionId: "s1" } as const;
  const forkAt = { kind: "fork", sessionId: "s1", at: "m1" } as const;
  const cases: [what: string, change: Partial<SessionFacts>, plan: object][] = [
    [
      "starts fresh after the session expired, and says so",
      { now: new Date("2030-01-02T00:00:00Z") },
      { kind: "fresh", reason: "the last session has expired" },
    ],
    [
      "starts fresh in another folder, and says so",
      { cwd: "/other" },
      { kind: "fresh", reason: "the last session worked in another folder" },
    ],
    [
      "starts fresh without the transcript, and says so",
      { transcriptExists: false },
      { kind: "fresh", reason: "the transcript of the last session is gone" },
    ],
    ["gives no reason for a first session", { known: undefined }, { kind: "fresh" }],
    [
      "forks at a message",
      { wish: forkAt, hasForkPoint: true },
      { kind: "fork", from: "s1", at: "m1" },
    ],
    [
      "forks at the end",
      { wish: { kind: "fork", sessionId: "s1" }, hasForkPoint: false },
      { kind: "fork", from: "s1" },
    ],
    [
      "refuses to fork at a message that the session does not have",
      { wish: forkAt, hasForkPoint: false },
      {
        kind: "refuse",
        message: "there is no message m1 in session s1",
        hint: expect.stringContaining("`uuid` of a message"),
      },
    ],
    [
      "refuses to resume a session of another runtime",
      { wish: resume, place: "docker" },
      {
        kind: "refuse",
        message: "session s1 was created by `cli` and can only be resumed there",
        hint: expect.stringContaining("an agent that uses `cli`"),
      },
    ],
    [
      "refuses to resume a session without a transcript",
      { wish: resume, transcriptExists: false },
      {
        kind: "refuse",
        message: "there is no session s1 in the agent's working directory",
        hint: expect.stringContaining("`herdctl sessions`"),
      },
    ],
  ];
  test.each(cases)("%s", (_, change, plan) => {
    expect(planSession({ ...facts, ...change })).toEqual(plan);
  });

  test("ignores a schedule named `null` for a run without a schedule", () => {
    const yaml = `schedules:
  "null": { type: cron, cron: "@daily", prompt: p, resume_session: true }`;
    const agent = agentOf(loadTestFleet(inlineAgent(yaml)), "one");
    expect(sessionRule(agent, null)).toEqual({ shouldResume: false, ownerSchedule: null });
  });
});

describe("lease of a session", () => {
  const now = new Date("2030-01-01T00:00:00Z");
  const holder: SessionLeaseHolder = {
    pid: 1,
    start_time: "1",
    boot_id: "b",
    job_id: "j",
    node: "n",
  };
  const lease: SessionLease = { holder, until: "2030-01-01T00:00:01.000Z" };
  const alive: Liveness = { isAlive: () => true, isNodeGone: () => false };
  const decide = (change: Partial<SessionLeaseHolder>, liveness = alive, current = lease) =>
    decideLease(current, { ...holder, ...change }, now, liveness);
  const granted = { granted: true };
  const refused = { granted: false, ...lease };
  const other = { job_id: "other" };

  test("is granted if there is none", () => {
    expect(decideLease(undefined, holder, now, alive)).toEqual(granted);
  });

  test("is granted again to its holder only, which is one job of one process on one node", () => {
    expect(decide({})).toEqual(granted);
    const others: Partial<SessionLeaseHolder>[] = [
      { pid: 2 },
      { start_time: "2" },
      { boot_id: "c" },
      other,
      { node: "m" },
      { node: undefined },
    ];
    for (const change of others) expect(decide(change)).toEqual(refused);
  });

  test("is granted to another job from the moment it ends", () => {
    expect(decide(other, alive, { holder, until: "2030-01-01T00:00:00.001Z" }).granted).toBe(false);
    expect(decide(other, alive, { holder, until: "2030-01-01T00:00:00.000Z" })).toEqual(granted);
  });

  test("is granted if the holder on the same node died, whatever is known about nodes", () => {
    const isAlive = (process: { pid: number }) => process.pid !== 1;
    expect(decide(other, { isAlive, isNodeGone: () => false })).toEqual(granted);
    expect(decide(other, { isAlive: () => true, isNodeGone: () => true })).toEqual(refused);
    const local = { ...lease, holder: { ...holder, node: undefined } };
    const liveness = { isAlive, isNodeGone: () => false };
    expect(decide({ ...other, node: undefined }, liveness, local)).toEqual(granted);
  });

  test("is granted if the holder's node is gone, whatever process of this node has its pid", () => {
    const isNodeGone = (node: string): boolean => node === "n";
    const from = { ...other, node: "m" };
    expect(decide(from, { isAlive: () => true, isNodeGone })).toEqual(granted);
    expect(decide(from, { isAlive: () => false, isNodeGone: () => false })).toEqual(refused);
    const local = { ...lease, holder: { ...holder, node: undefined } };
    expect(decide(from, { isAlive: () => false, isNodeGone: () => true }, local).granted).toBe(
      false,
    );
  });
});
