import { join } from "node:path";
import { StateManager } from "@herdctl/core/internal";
import fc from "fast-check";
import { describe, expect, onTestFinished, test } from "vitest";
import { admit } from "../../packages/core/src/jobs/admission/admit.ts";
import {
  type Applicant,
  decideAdmission,
} from "../../packages/core/src/jobs/admission/decide-admission.ts";
import type { UnfinishedJob } from "../../packages/protocol/src/records/job.ts";
import { agentOf, inlineAgent, loadTestFleet } from "../support/fleet-config.ts";
import { tempFolderWith } from "../support/temp-folder.ts";
import { liveJob } from "./job-fixture.ts";

type Overlap = Applicant["overlap"];
const policies: Overlap[] = ["skip", "queue", "cancel_running", "allow"];

describe("overlap policy of a schedule", () => {
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
  test.each(cases)(
    "applies the policy %s with the unfinished jobs [%s]: %s",
    (overlap, statuses, expected) => {
      const live = statuses
        .split(" ")
        .filter(Boolean)
        .map((status, id) =>
          liveJob(String(id), { schedule: "daily", status: status as UnfinishedJob["status"] }),
        );
      const decision = decideAdmission({ schedule: "daily", overlap }, { liveJobs: live });
      const cancel = decision.kind === "accept" ? decision.jobsToCancel : [];
      const summary =
        cancel.length > 0 ? `${decision.kind} and cancel ${cancel.join(" ")}` : decision.kind;
      expect(summary).toBe(expected);
      if (decision.kind === "skip") expect(decision.outcome.code).toBe("overlap");
    },
  );

  const anyLive = fc.array(
    fc
      .constantFrom<UnfinishedJob["status"]>("pending", "running", "waiting")
      .map((status) => liveJob("x", { status })),
    { maxLength: 6 },
  );
  test("never refuses a trigger without a schedule or without unfinished jobs", () => {
    fc.assert(
      fc.property(anyLive, fc.constantFrom(...policies), (live, overlap) => {
        const accepted = { kind: "accept", jobsToCancel: [] };
        expect(decideAdmission({ schedule: null, overlap }, { liveJobs: live })).toEqual(accepted);
        expect(decideAdmission({ schedule: "daily", overlap }, { liveJobs: [] })).toEqual(accepted);
      }),
    );
  });
});

async function openFleet() {
  const schedules = policies
    .map(
      (overlap) => `  ${overlap}: { type: interval, every: 1h, overlap: ${overlap}, prompt: work }`,
    )
    .join("\n");
  const yaml = `priority: 7\ndefault_prompt: usual\nschedules:\n${schedules}\n  plain: { type: webhook, signature: { kind: github, secret_env: SECRET } }`;
  const agents = [agentOf(loadTestFleet(inlineAgent(yaml)), "one")];
  const stateDir = join(tempFolderWith({}), "state");
  const state = await new StateManager(stateDir).open();
  onTestFinished(() => state.close());
  const trigger = (request: object = {}) =>
    admit(state, agents, { trigger: "manual", agent: "one", ...request });
  return { state, trigger };
}

describe("admission", () => {
  test("creates a durable job with the schedule's prompt and the agent's priority", async () => {
    const { state, trigger } = await openFleet();
    const { job, created, jobsToCancel } = await trigger({ trigger: "interval", schedule: "skip" });
    expect({ created, jobsToCancel }).toEqual({ created: true, jobsToCancel: [] });
    expect(job).toMatchObject({ status: "pending", prompt: "work", priority: 7, schedule: "skip" });
    expect(await state.jobs.get(job.id)).toEqual(job);
    expect((await trigger({ schedule: "plain", trigger: "webhook" })).job.prompt).toBe("usual");
  });

  test("records a refusal, which is final", async () => {
    const { state, trigger } = await openFleet();
    await trigger({ schedule: "skip" });
    const { job, created } = await trigger({ schedule: "skip" });
    expect(created).toBe(true);
    expect(job).toMatchObject({ status: "skipped", outcome: { code: "overlap" } });
    expect(await state.jobs.startAttempt(job.id)).toMatchObject({ applied: false });
    expect(await state.jobs.listLive()).toHaveLength(1);
  });

  test("considers only jobs of the same schedule", async () => {
    const { trigger } = await openFleet();
    await trigger();
    await trigger({ schedule: "queue" });
    expect((await trigger({ schedule: "skip" })).job.status).toBe("pending");
  });

  test("admits the next job once the last has finished", async () => {
    const { state, trigger } = await openFleet();
    const { job } = await trigger({ schedule: "skip" });
    const outcome = { code: "cancelled" as const, message: "m", hint: "h" };
    await state.jobs.update(job.id, { status: "cancelled", outcome });
    expect((await trigger({ schedule: "skip" })).job.status).toBe("pending");
  });

  test("names the jobs that have to be replaced", async () => {
    const { trigger } = await openFleet();
    const first = await trigger({ schedule: "cancel_running" });
    const second = await trigger({ schedule: "cancel_running" });
    expect(second).toMatchObject({ job: { status: "pending" }, jobsToCancel: [first.job.id] });
  });

  test("creates one job for a hundred concurrent triggers with one key", async () => {
    const { state, trigger } = await openFleet();
    const all = await Promise.all(
      Array.from({ length: 100 }, () => trigger({ key: "delivery", schedule: "skip" })),
    );
    expect(new Set(all.map(({ job }) => job.id)).size).toBe(1);
    expect(all.filter(({ created }) => created)).toHaveLength(1);
    expect((await state.jobs.list({ limit: 10 })).jobs).toHaveLength(1);
  });

  test("creates one job and 99 refusals for a hundred concurrent triggers of one schedule", async () => {
    const { state, trigger } = await openFleet();
    await Promise.all(Array.from({ length: 100 }, () => trigger({ schedule: "skip" })));
    expect(await state.jobs.listLive()).toHaveLength(1);
    expect((await state.jobs.list({ limit: 1000, outcome: "overlap" })).jobs).toHaveLength(99);
  });

  test("repeats the refusal for the key of a refused trigger", async () => {
    const { trigger } = await openFleet();
    await trigger({ schedule: "skip" });
    const refused = await trigger({ schedule: "skip", key: "k" });
    expect(await trigger({ key: "k" })).toEqual({ ...refused, created: false });
  });

  test("refuses an invalid trigger and records nothing", async () => {
    const { state, trigger } = await openFleet();
    await expect(trigger({ agent: "two" })).rejects.toMatchObject({ code: "agent_not_found" });
    await expect(trigger({ schedule: "none" })).rejects.toMatchObject({
      code: "schedule_not_found",
    });
    await expect(trigger({ prompt: "  " })).rejects.toMatchObject({ code: "usage" });
    await expect(trigger({ resume: "job-none" })).rejects.toMatchObject({ code: "job_not_found" });
    expect(await state.jobs.listLive()).toEqual([]);
  });

  test("refuses a trigger when the state cannot be written, and changes nothing", async () => {
    const { state, trigger } = await openFleet();
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
