import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isExpired, type LeaseHolder } from "../../packages/core/src/state/session.ts";
import { newStores } from "./support.ts";

const session = { session_id: "s1", agent: "coder", place: "cli", cwd: "/repo" } as const;

const holder = (pid: number): LeaseHolder => ({
  pid,
  start_time: "100",
  boot_id: "boot",
  job_id: `job-${pid}`,
});

describe("sessions", () => {
  test("are kept by agent and place, the one used last first", async () => {
    const { sessions, time } = await newStores();
    for (const info of [
      session,
      { ...session, session_id: "s2" },
      { ...session, session_id: "s3", place: "docker" as const },
      { ...session, session_id: "s4", agent: "writer" },
    ]) {
      time.now += 1_000;
      await sessions.save(info);
    }
    expect((await sessions.latest("coder", "cli"))?.session_id).toBe("s2");
    time.now += 1_000;
    await sessions.save(session);
    expect((await sessions.latest("coder", "cli"))?.session_id).toBe("s1");
    expect((await sessions.latest("coder", "docker"))?.session_id).toBe("s3");
    expect(await sessions.latest("coder", "sdk")).toBeUndefined();
    const ids = async (query?: { agent: string }) =>
      (await sessions.list(query)).map((one) => one.session_id);
    expect(await ids()).toEqual(["s1", "s4", "s3", "s2"]);
    expect(await ids({ agent: "coder" })).toEqual(["s1", "s3", "s2"]);
  });

  test("whoever leased one for another gives it to them when the attempt begins", async () => {
    const { jobs, sessions, time } = await newStores();
    const { job } = await jobs.create({ agent: "coder", prompt: "go on", trigger_type: "manual" });
    const until = new Date(time.now + 60_000);
    const [fleet, runner, other] = [holder(1), holder(2), holder(3)];
    await sessions.lease("s1", fleet, until);
    await jobs.startAttempt(job.id, {}, { sessionId: "s1", holder: runner, until, from: fleet });
    expect(await sessions.lease("s1", fleet, until)).toMatchObject({ granted: false });
    expect(await sessions.lease("s1", other, until)).toMatchObject({
      granted: false,
      holder: runner,
    });
    expect(await sessions.release("s1", runner)).toBe(true);
  });

  test("know the node that made them, also when it is not said again", async () => {
    const { sessions } = await newStores();
    expect(await sessions.save(session)).toMatchObject({ node: null });
    await sessions.save({ ...session, node: "n1" });
    expect(await sessions.save(session)).toMatchObject({ node: "n1" });
  });

  test("of a schedule's own are not the agent's last, and stay its own", async () => {
    const { sessions, time } = await newStores();
    await sessions.save(session);
    time.now += 1_000;
    await sessions.save({ ...session, session_id: "s2", schedule: "daily" });
    time.now += 1_000;
    await sessions.save({ ...session, session_id: "s2" });
    expect((await sessions.latest("coder", "cli"))?.session_id).toBe("s1");
    expect((await sessions.latest("coder", "cli", "daily"))?.session_id).toBe("s2");
    expect(await sessions.latest("coder", "cli", "weekly")).toBeUndefined();
  });

  test("keep what a later run leaves out, and when they began", async () => {
    const { sessions, time } = await newStores();
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

describe("leases", () => {
  const later = new Date("2030-01-01T01:00:00Z");

  test("have one holder, who is named to the next", async () => {
    const { sessions } = await newStores();
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

  test("pass on when the holder is dead, was another process of that number, or is out of time", async () => {
    const { sessions, dead, time } = await newStores();
    await sessions.lease("s", holder(1), later);
    dead.add(1);
    expect(await sessions.lease("s", holder(2), later)).toEqual({ granted: true });
    const reborn = { ...holder(2), start_time: "200" };
    expect(await sessions.lease("s", reborn, later)).toMatchObject({ granted: false });
    time.now = later.getTime();
    expect(await sessions.lease("s", reborn, later)).toEqual({ granted: true });
  });

  test("of another node are held until that node is gone or the time is over", async () => {
    const { sessions, time, dead, gone } = await newStores();
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

  test("whatever happens, no two living holders have a session at the same time", async () => {
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
    const { sessions, dead, time } = await newStores();
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
