import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isExpired, type SessionLeaseHolder } from "../../packages/protocol/src/records/session.ts";
import { openStores } from "./test-stores.ts";

const session = { session_id: "s1", agent: "coder", session_home: "cli", cwd: "/repo" } as const;

const holder = (pid: number): SessionLeaseHolder => ({
  pid,
  start_time: "100",
  boot_id: "boot",
  job_id: `job-${pid}`,
});

describe("sessions", () => {
  test("lists sessions by agent and place, the last used first", async () => {
    const { sessions, time } = await openStores();
    for (const info of [
      session,
      { ...session, session_id: "s2" },
      { ...session, session_id: "s3", session_home: "docker" as const },
      { ...session, session_id: "s4", agent: "writer" },
    ]) {
      time.now += 1_000;
      await sessions.save(info);
    }
    expect((await sessions.findLatest("coder", "cli"))?.session_id).toBe("s2");
    time.now += 1_000;
    await sessions.save(session);
    expect((await sessions.findLatest("coder", "cli"))?.session_id).toBe("s1");
    expect((await sessions.findLatest("coder", "docker"))?.session_id).toBe("s3");
    expect(await sessions.findLatest("coder", "sdk")).toBeUndefined();
    const ids = async (query?: { agent: string }) =>
      (await sessions.list(query)).map((one) => one.session_id);
    expect(await ids()).toEqual(["s1", "s4", "s3", "s2"]);
    expect(await ids({ agent: "coder" })).toEqual(["s1", "s3", "s2"]);
  });

  test("passes a lease on when the attempt starts", async () => {
    const { jobs, sessions, time } = await openStores();
    const { job } = await jobs.create({ agent: "coder", prompt: "go on", trigger_type: "manual" });
    const until = new Date(time.now + 60_000);
    const [fleet, runner, other] = [holder(1), holder(2), holder(3)];
    await sessions.lease("s1", fleet, until);
    await jobs.startAttempt(
      job.id,
      {},
      { sessionId: "s1", holder: runner, until, previousHolder: fleet },
    );
    expect(await sessions.lease("s1", fleet, until)).toMatchObject({ granted: false });
    expect(await sessions.lease("s1", other, until)).toMatchObject({
      granted: false,
      holder: runner,
    });
    expect(await sessions.release("s1", runner)).toBe(true);
  });

  test("keeps the node that created a session", async () => {
    const { sessions } = await openStores();
    expect(await sessions.save(session)).toMatchObject({ node: null });
    await sessions.save({ ...session, node: "n1" });
    expect(await sessions.save(session)).toMatchObject({ node: "n1" });
  });

  test("keeps a schedule's own session apart from the agent's last one", async () => {
    const { sessions, time } = await openStores();
    await sessions.save(session);
    time.now += 1_000;
    await sessions.save({ ...session, session_id: "s2", schedule: "daily" });
    time.now += 1_000;
    await sessions.save({ ...session, session_id: "s2" });
    expect((await sessions.findLatest("coder", "cli"))?.session_id).toBe("s1");
    expect((await sessions.findLatest("coder", "cli", "daily"))?.session_id).toBe("s2");
    expect(await sessions.findLatest("coder", "cli", "weekly")).toBeUndefined();
  });

  test("keeps fields that a later run omits, and the start time", async () => {
    const { sessions, time } = await openStores();
    const first = await sessions.save({
      ...session,
      cost_total_usd: 1.5,
      turns: 3,
      expires_at: "2030-01-02T00:00:00.000Z",
    });
    time.now += 60_000;
    const second = await sessions.save({ ...session, turns: 4, expires_at: undefined });
    expect(second).toEqual({ ...first, turns: 4, last_used_at: "2030-01-01T00:01:00.000Z" });
    expect(await sessions.get("s1")).toEqual(second);
    expect(await sessions.get("s9")).toBeUndefined();
    expect(isExpired(second, new Date("2030-01-01T23:59:59Z"))).toBe(false);
    expect(isExpired(second, new Date("2030-01-02T00:00:00Z"))).toBe(true);
    expect(isExpired({ ...second, expires_at: null }, new Date("2099-01-01"))).toBe(false);
  });
});

describe("session leases", () => {
  const later = new Date("2030-01-01T01:00:00Z");

  test("grants a lease to one holder, who is named to the next", async () => {
    const { sessions } = await openStores();
    expect(await sessions.lease("made-by-hand", holder(1), later)).toEqual({ granted: true });
    expect(await sessions.lease("made-by-hand", holder(2), later)).toEqual({
      granted: false,
      holder: holder(1),
      until: later.toISOString(),
    });
    expect(await sessions.release("made-by-hand", holder(2))).toBe(false);
    expect(await sessions.release("made-by-hand", holder(1))).toBe(true);
    expect(await sessions.lease("made-by-hand", holder(2), later)).toEqual({ granted: true });
  });

  test("passes a lease on when the holder is dead, was another process with that pid, or is out of time", async () => {
    const { sessions, dead, time } = await openStores();
    await sessions.lease("s", holder(1), later);
    dead.add(1);
    expect(await sessions.lease("s", holder(2), later)).toEqual({ granted: true });
    const reborn = { ...holder(2), start_time: "200" };
    expect(await sessions.lease("s", reborn, later)).toMatchObject({ granted: false });
    time.now = later.getTime();
    expect(await sessions.lease("s", reborn, later)).toEqual({ granted: true });
  });

  test("keeps a lease of another node until that node is gone or the time is over", async () => {
    const { sessions, time, dead, gone } = await openStores();
    const until = new Date(time.now + 60_000);
    const [far, near] = [
      { ...holder(1), node: "far" },
      { ...holder(1), node: "near" },
    ];
    await sessions.lease("s1", far, until);
    expect(await sessions.release("s1", near)).toBe(false);
    dead.add(1);
    expect(await sessions.lease("s1", near, until)).toMatchObject({ granted: false, holder: far });
    gone.add("far");
    expect(await sessions.lease("s1", near, until)).toEqual({ granted: true });
    time.now += 60_000;
    expect(await sessions.lease("s1", far, until)).toEqual({ granted: true });
  });

  test("never gives a session to two live holders", async () => {
    const pids = fc.integer({ min: 1, max: 4 });
    const step = fc.oneof(
      fc.record({
        do: fc.constant("lease" as const),
        pid: pids,
        minutes: fc.integer({ min: 1, max: 9 }),
      }),
      fc.record({ do: fc.constant("release" as const), pid: pids }),
      fc.record({ do: fc.constant("die" as const), pid: pids }),
      fc.record({ do: fc.constant("pass" as const), minutes: fc.integer({ min: 1, max: 9 }) }),
    );
    const { sessions, dead, time } = await openStores();
    let run = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 30 }), async (steps) => {
        const id = `session-${run++}`;
        dead.clear();
        const until = new Map<number, number>();
        const valid = () =>
          [...until].filter(([pid, end]) => !dead.has(pid) && end > time.now).map(([pid]) => pid);
        for (const one of steps) {
          if (one.do === "pass") time.now += one.minutes * 60_000;
          else if (one.do === "die") dead.add(one.pid);
          else if (one.do === "release") {
            await sessions.release(id, holder(one.pid));
            until.delete(one.pid);
          } else if (!dead.has(one.pid)) {
            const end = time.now + one.minutes * 60_000;
            const others = valid().filter((pid) => pid !== one.pid);
            const { granted } = await sessions.lease(id, holder(one.pid), new Date(end));
            expect(granted).toBe(others.length === 0);
            if (granted) until.set(one.pid, end);
          }
          expect(valid().length).toBeLessThanOrEqual(1);
        }
      }),
      { numRuns: 200 },
    );
  });
});
