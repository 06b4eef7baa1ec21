import { join } from "node:path";
import { StateManager } from "@herdctl/core";
import fc from "fast-check";
import { describe, expect, onTestFinished, test } from "vitest";
import { admit } from "../../packages/core/src/queue/admit.ts";
import { type Applicant, decideAdmission } from "../../packages/core/src/queue/decide-admission.ts";
import type { LiveJob } from "../../packages/core/src/state/job.ts";
import { agentOf, inlineAgent, load } from "../support/fleet.ts";
import { folderWith } from "../support/folder.ts";
import { liveJob } from "./live-job.ts";

type Overlap = Applicant["overlap"];
const policies: Overlap[] = ["skip", "queue", "cancel_running", "allow"];

describe("a trigger of a schedule", () => {
  const cases: [overlap: Overlap, live: string, decision: string][] = [
    ["skip", "", "accept"],
    ["skip", "pending", "skip"],
    ["skip", "running", "skip"],
    ["skip", "waiting", "skip"],
    ["queue", "", "accept"],
    ["queue", "running", "accept"],
    ["queue", "waiting", "accept"],
    ["queue", "pending", "skip"],
    ["queue", "running pending", "skip"],
    ["cancel_running", "", "accept"],
    ["cancel_running", "running", "accept and cancel 0"],
    ["cancel_running", "waiting pending", "accept and cancel 0 1"],
    ["allow", "running pending pending", "accept"],
  ];
  test.each(cases)("%s, with [%s] of it live: %s", (overlap, statuses, expected) => {
    const live = statuses
      .split(" ")
      .filter(Boolean)
      .map((status, id) =>
        liveJob(String(id), { schedule: "daily", status: status as LiveJob["status"] }),
      );
    const decision = decideAdmission({ schedule: "daily", overlap }, { live });
    const cancel = decision.kind === "accept" ? decision.cancel : [];
    const told =
      cancel.length > 0 ? `${decision.kind} and cancel ${cancel.join(" ")}` : decision.kind;
    expect(told).toBe(expected);
    if (decision.kind === "skip") expect(decision.outcome.code).toBe("overlap");
  });

  const anyLive = fc.array(
    fc
      .constantFrom<LiveJob["status"]>("pending", "running", "waiting")
      .map((status) => liveJob("x", { status })),
    { maxLength: 6 },
  );
  test("is never refused without a schedule, and never when nothing is live", () => {
    fc.assert(
      fc.property(anyLive, fc.constantFrom(...policies), (live, overlap) => {
        const accepted = { kind: "accept", cancel: [] };
        expect(decideAdmission({ schedule: null, overlap }, { live })).toEqual(accepted);
        expect(decideAdmission({ schedule: "daily", overlap }, { live: [] })).toEqual(accepted);
      }),
    );
  });
});

async function fleet() {
  const schedules = policies
    .map(
      (overlap) => `  ${overlap}: { type: interval, every: 1h, overlap: ${overlap}, prompt: work }`,
    )
    .join("\n");
  const yaml = `priority: 7\ndefault_prompt: usual\nschedules:\n${schedules}\n  plain: { type: webhook, signature: { kind: github, secret_env: SECRET } }`;
  const agents = [agentOf(load(inlineAgent(yaml)), "one")];
  const stateDir = join(folderWith({}), "state");
  const state = await new StateManager(stateDir).open();
  onTestFinished(() => state.close());
  const trigger = (request: object = {}) =>
    admit(state, agents, { trigger: "manual", agent: "one", ...request });
  return { state, trigger };
}

describe("admitting", () => {
  test("makes a durable job with the schedule's prompt and the agent's priority", async () => {
    const { state, trigger } = await fleet();
    const { job, created, cancel } = await trigger({ trigger: "interval", schedule: "skip" });
    expect({ created, cancel }).toEqual({ created: true, cancel: [] });
    expect(job).toMatchObject({ status: "pending", prompt: "work", priority: 7, schedule: "skip" });
    expect(await state.jobs.get(job.id)).toEqual(job);
    expect((await trigger({ schedule: "plain", trigger: "webhook" })).job.prompt).toBe("usual");
  });

  test("records a refusal, which is final", async () => {
    const { state, trigger } = await fleet();
    await trigger({ schedule: "skip" });
    const { job, created } = await trigger({ schedule: "skip" });
    expect(created).toBe(true);
    expect(job).toMatchObject({ status: "skipped", outcome: { code: "overlap" } });
    expect(await state.jobs.startAttempt(job.id)).toMatchObject({ applied: false });
    expect(await state.jobs.snapshot()).toHaveLength(1);
  });

  test("looks at the schedule's own jobs only", async () => {
    const { trigger } = await fleet();
    await trigger();
    await trigger({ schedule: "queue" });
    expect((await trigger({ schedule: "skip" })).job.status).toBe("pending");
  });

  test("lets the next one in once the last has finished", async () => {
    const { state, trigger } = await fleet();
    const { job } = await trigger({ schedule: "skip" });
    const outcome = { code: "cancelled" as const, message: "m", hint: "h" };
    await state.jobs.update(job.id, { status: "cancelled", outcome });
    expect((await trigger({ schedule: "skip" })).job.status).toBe("pending");
  });

  test("names the jobs that have to make way", async () => {
    const { trigger } = await fleet();
    const first = await trigger({ schedule: "cancel_running" });
    const second = await trigger({ schedule: "cancel_running" });
    expect(second).toMatchObject({ job: { status: "pending" }, cancel: [first.job.id] });
  });

  test("a hundred at once with one key make one job", async () => {
    const { state, trigger } = await fleet();
    const all = await Promise.all(
      Array.from({ length: 100 }, () => trigger({ key: "delivery", schedule: "skip" })),
    );
    expect(new Set(all.map(({ job }) => job.id)).size).toBe(1);
    expect(all.filter(({ created }) => created)).toHaveLength(1);
    expect((await state.jobs.list({ limit: 10 })).jobs).toHaveLength(1);
  });

  test("a hundred at once of one schedule make one job and 99 refusals", async () => {
    const { state, trigger } = await fleet();
    await Promise.all(Array.from({ length: 100 }, () => trigger({ schedule: "skip" })));
    expect(await state.jobs.snapshot()).toHaveLength(1);
    expect((await state.jobs.list({ limit: 1000, outcome: "overlap" })).jobs).toHaveLength(99);
  });

  test("the key of a refused trigger gives the refusal again", async () => {
    const { trigger } = await fleet();
    await trigger({ schedule: "skip" });
    const refused = await trigger({ schedule: "skip", key: "k" });
    expect(await trigger({ key: "k" })).toEqual({ ...refused, created: false });
  });

  test("what makes no sense is refused and leaves nothing", async () => {
    const { state, trigger } = await fleet();
    for (const wrong of [{ agent: "two" }, { schedule: "none" }, { prompt: "  " }]) {
      await expect(trigger(wrong)).rejects.toMatchObject({ code: "usage" });
    }
    await expect(trigger({ resume: "job-none" })).rejects.toMatchObject({ code: "job_not_found" });
    expect(await state.jobs.snapshot()).toEqual([]);
  });

  test("a state that cannot be written is a clear refusal, and nothing is half done", async () => {
    const { state, trigger } = await fleet();
    const first = await trigger({ schedule: "cancel_running", key: "first" });
    await state.close();
    await state.open({ readOnly: true });
    await expect(trigger({ schedule: "cancel_running" })).rejects.toMatchObject({
      code: "state_unavailable",
      exitCode: 4,
    });
    await state.close();
    await state.open();
    expect((await state.jobs.list({ limit: 10 })).jobs).toEqual([first.job]);
    expect((await trigger({ key: "first" })).created).toBe(false);
  });
});
