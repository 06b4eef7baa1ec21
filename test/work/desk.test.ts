import { join } from "node:path";
import { type Job, loadFleet, StateManager } from "@herdctl/core";
import { describe, expect, onTestFinished, test } from "vitest";
import { WorkDesk } from "../../packages/core/src/work/work-desk.ts";
import { until } from "../support/fleet-program.ts";
import { folderWith } from "../support/folder.ts";
import { GitHubStandIn } from "../support/github.ts";

async function deskStage() {
  const github = await GitHubStandIn.start();
  const folder = folderWith({
    "herdctl.yaml": `version: 1
fleet: { name: test }
agents:
  - name: one
    work_source: { type: github, repo: o/r, labels: [ready], base_url: "${github.url}" }
`,
  });
  const { fleet, environment } = loadFleet(join(folder, "herdctl.yaml"), { GITHUB_TOKEN: "t" });
  const state = await new StateManager(join(folder, ".herdctl")).open();
  const desks: WorkDesk[] = [];
  const abandoned: string[] = [];
  const abandon = async (jobId: string) => void abandoned.push(jobId);
  const desk = () => {
    const options = { state, fleet: () => fleet, environment: () => environment };
    const trouble = () => undefined;
    const made = new WorkDesk({
      ...options,
      ...{ abandon, trouble, isOurs: () => true, isShared: false },
    });
    desks.push(made);
    return made;
  };
  onTestFinished(async () => {
    for (const one of desks) await one.stop(0);
    await state.close();
    github.stop();
  });
  const [agent] = fleet.agents;
  if (!agent) throw new Error("no agent");
  const take = async (by: WorkDesk) => {
    const taken = await by.take(agent);
    if (taken.kind === "none") throw new Error(taken.why);
    return taken.claim;
  };
  const end = async (id: string, status: "completed" | "failed") => {
    const code = status === "completed" ? ("success" as const) : ("timeout" as const);
    const outcome = { code, message: "It is over.", hint: "-" };
    await state.jobs.startAttempt(id);
    const ended = { outcome_code: code, session_id: null, cost_usd: 0.5 };
    return state.jobs.endAttempt(id, 1, ended, { status, outcome, summary: "my summary" });
  };
  const admit = (id: string): Promise<{ job: Job }> =>
    state.jobs.create({ id, agent: "one", prompt: "go", trigger_type: "work_item" });
  return { github, state, agent, desk, take, admit, end, abandoned };
}

describe("a claim and its job", () => {
  test("is announced once the job is on record, and completed with it", async () => {
    const on = await deskStage();
    on.github.open(1);
    const desk = on.desk();
    const claim = await on.take(desk);
    expect(on.github.labelsOf(1)).toEqual(["ready"]);
    await on.admit(claim.job_id);
    desk.decidedOn(claim.job_id);
    await until("it to be announced", async () => on.github.labelsOf(1).includes("in-progress"));
    await on.end(claim.job_id, "completed");
    desk.kick();
    await until("it to be closed", async () => on.github.issues.get(1)?.state === "closed");
    await until("it to be recorded", async () => (await on.state.work.open()).length === 0);
    expect(await on.state.work.forJob(claim.job_id)).toMatchObject({ status: "completed" });
    expect(on.github.commentsOf(1).join()).toContain("my summary");
  });

  test("a death between claim and job: the next desk gives it back, and it is worked once", async () => {
    const on = await deskStage();
    on.github.open(1);
    const claim = await on.take(on.desk());
    expect(on.github.refs.size).toBe(1);

    const next = on.desk();
    next.start();
    await until("it to be released", async () => (await on.state.work.open()).length === 0);
    expect(await on.state.work.forJob(claim.job_id)).toMatchObject({ status: "released" });
    expect(on.github.commentsOf(1)).toEqual([]);
    const again = await on.take(next);
    expect(again.item).toBe("1");
    expect(again.id).not.toBe(claim.id);
  });

  test("a death before the claim was made: nothing was taken, nothing is left", async () => {
    const on = await deskStage();
    on.github.open(1);
    const about = { agent: "one", source: "github:o/r", item: "1", title: "x", url: null };
    const intended = await on.state.work.intend({ ...about, job_id: "job-never" });
    expect(intended?.status).toBe("claiming");
    expect(await on.state.work.intend({ ...about, job_id: "job-other" })).toBeUndefined();
    const desk = on.desk();
    desk.start();
    await until("it to be forgotten", async () => (await on.state.work.open()).length === 0);
    expect((await on.take(desk)).item).toBe("1");
  });

  test("a death after the job was admitted: the job goes on, and the claim with it", async () => {
    const on = await deskStage();
    on.github.open(1);
    const claim = await on.take(on.desk());
    await on.admit(claim.job_id);
    const next = on.desk();
    next.start();
    await until("it to be announced", async () => on.github.labelsOf(1).includes("in-progress"));
    await expect(on.take(next)).rejects.toThrow("Nothing is waiting");
    await on.end(claim.job_id, "completed");
    next.kick();
    await until("it to be closed", async () => on.github.issues.get(1)?.state === "closed");
  });

  test("a source that fails for a while is told in the end", async () => {
    const on = await deskStage();
    on.github.open(1);
    const desk = on.desk();
    const claim = await on.take(desk);
    await on.admit(claim.job_id);
    await on.end(claim.job_id, "completed");
    let failing = true;
    on.github.mishaps.push(() => (failing ? [401, {}] : undefined));
    desk.decidedOn(claim.job_id);
    await until("it to be tried", async () => on.github.requests.length > 6);
    expect(await on.state.work.open()).toHaveLength(1);
    failing = false;
    await until("it to be closed", async () => on.github.issues.get(1)?.state === "closed");
  });
});

test("an issue that fails is given back twice and then set aside for a person", async () => {
  const on = await deskStage();
  on.github.open(1);
  const desk = on.desk();
  for (let round = 1; round <= 3; round++) {
    const claim = await on.take(desk);
    await on.admit(claim.job_id);
    desk.decidedOn(claim.job_id);
    await until("it to be announced", async () => on.github.labelsOf(1).includes("in-progress"));
    await on.end(claim.job_id, "failed");
    desk.kick();
    await until("it to be given back", async () => (await on.state.work.open()).length === 0);
  }
  expect(on.github.labelsOf(1)).toEqual(["ready", "herdctl-failed"]);
  expect(on.github.issues.get(1)).toMatchObject({ state: "open", assignees: [] });
  expect(on.github.commentsOf(1).filter((text) => text.includes("Not done"))).toHaveLength(3);
  await expect(on.take(desk)).rejects.toThrow("Nothing is waiting");
});

test("a job that was not admitted after all leaves no word on the issue", async () => {
  const on = await deskStage();
  on.github.open(1);
  const desk = on.desk();
  const claim = await on.take(desk);
  const skipped = { code: "budget_exceeded" as const, message: "No money.", hint: "-" };
  await on.state.jobs.create({ id: claim.job_id, agent: "one", prompt: "go", skipped });
  desk.decidedOn(claim.job_id);
  await until("it to be given back", async () => (await on.state.work.open()).length === 0);
  expect(on.github.commentsOf(1)).toEqual([]);
  expect(on.github.labelsOf(1)).toEqual(["ready"]);
  expect((await on.take(desk)).item).toBe("1");
});
