import { join } from "node:path";
import { loadFleet } from "@herdctl/config";
import { StateManager } from "@herdctl/core/internal";
import type { Job } from "@herdctl/protocol";
import { describe, expect, onTestFinished, test } from "vitest";
import { WorkClaims } from "../../packages/core/src/triggers/work-sources/work-claims.ts";
import { waitUntil } from "../support/fleet-child-process.ts";
import { GitHubStandIn } from "../support/github-stand-in.ts";
import { tempFolderWith } from "../support/temp-folder.ts";

async function startWorkClaimsHarness() {
  const github = await GitHubStandIn.start();
  const folder = tempFolderWith({
    "herdctl.yaml": `version: 1
fleet: { name: test }
agents:
  - name: one
    work_source: { type: github, repo: o/r, labels: [ready], base_url: "${github.url}" }
`,
  });
  const { fleet, environment } = loadFleet(join(folder, "herdctl.yaml"), { GITHUB_TOKEN: "t" });
  const state = await new StateManager(join(folder, ".herdctl")).open();
  const opened: WorkClaims[] = [];
  const abandoned: string[] = [];
  const abandon = async (jobId: string) => void abandoned.push(jobId);
  const claims = () => {
    const options = { state, fleet: () => fleet, environment: () => environment };
    const trouble = () => undefined;
    const made = new WorkClaims({
      ...options,
      ...{
        abandonJob: abandon,
        reportError: trouble,
        isResponsible: () => true,
        isStateShared: false,
      },
    });
    opened.push(made);
    return made;
  };
  onTestFinished(async () => {
    for (const one of opened) await one.stop(0);
    await state.close();
    github.stop();
  });
  const [agent] = fleet.agents;
  if (!agent) throw new Error("no agent");
  const take = async (by: WorkClaims) => {
    const taken = await by.claimNext(agent);
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
  return { github, state, agent, claims, take, admit, end, abandoned };
}

describe("claims and their jobs", () => {
  test("announces a claim once the job is recorded, and completes it with the job", async () => {
    const harness = await startWorkClaimsHarness();
    harness.github.addIssue(1);
    const claims = harness.claims();
    const claim = await harness.take(claims);
    expect(harness.github.labelsOfIssue(1)).toEqual(["ready"]);
    await harness.admit(claim.job_id);
    claims.onAdmissionDecided(claim.job_id);
    await waitUntil("it to be announced", async () =>
      harness.github.labelsOfIssue(1).includes("in-progress"),
    );
    await harness.end(claim.job_id, "completed");
    claims.wake();
    await waitUntil(
      "it to be closed",
      async () => harness.github.issues.get(1)?.state === "closed",
    );
    await waitUntil(
      "it to be recorded",
      async () => (await harness.state.workClaims.listOpen()).length === 0,
    );
    expect(await harness.state.workClaims.findByJob(claim.job_id)).toMatchObject({
      status: "completed",
    });
    expect(harness.github.commentsOnIssue(1).join()).toContain("my summary");
  });

  test("releases a claim without a job after a crash, and the item is worked on once", async () => {
    const harness = await startWorkClaimsHarness();
    harness.github.addIssue(1);
    const claim = await harness.take(harness.claims());
    expect(harness.github.refs.size).toBe(1);

    const next = harness.claims();
    next.start();
    await waitUntil(
      "it to be released",
      async () => (await harness.state.workClaims.listOpen()).length === 0,
    );
    expect(await harness.state.workClaims.findByJob(claim.job_id)).toMatchObject({
      status: "released",
    });
    expect(harness.github.commentsOnIssue(1)).toEqual([]);
    const again = await harness.take(next);
    expect(again.item).toBe("1");
    expect(again.id).not.toBe(claim.id);
  });

  test("takes nothing and leaves nothing after a crash before the claim", async () => {
    const harness = await startWorkClaimsHarness();
    harness.github.addIssue(1);
    const about = { agent: "one", source: "github:o/r", item: "1", title: "x", url: null };
    const intended = await harness.state.workClaims.createClaim({ ...about, job_id: "job-never" });
    expect(intended?.status).toBe("claiming");
    expect(
      await harness.state.workClaims.createClaim({ ...about, job_id: "job-other" }),
    ).toBeUndefined();
    const claims = harness.claims();
    claims.start();
    await waitUntil(
      "it to be forgotten",
      async () => (await harness.state.workClaims.listOpen()).length === 0,
    );
    expect((await harness.take(claims)).item).toBe("1");
  });

  test("continues the job and its claim after a crash after admission", async () => {
    const harness = await startWorkClaimsHarness();
    harness.github.addIssue(1);
    const claim = await harness.take(harness.claims());
    await harness.admit(claim.job_id);
    const next = harness.claims();
    next.start();
    await waitUntil("it to be announced", async () =>
      harness.github.labelsOfIssue(1).includes("in-progress"),
    );
    await expect(harness.take(next)).rejects.toThrow("No item is available");
    await harness.end(claim.job_id, "completed");
    next.wake();
    await waitUntil(
      "it to be closed",
      async () => harness.github.issues.get(1)?.state === "closed",
    );
  });

  test("reports a source that keeps failing", async () => {
    const harness = await startWorkClaimsHarness();
    harness.github.addIssue(1);
    const claims = harness.claims();
    const claim = await harness.take(claims);
    await harness.admit(claim.job_id);
    await harness.end(claim.job_id, "completed");
    let failing = true;
    harness.github.faults.push(() => (failing ? [401, {}] : undefined));
    claims.onAdmissionDecided(claim.job_id);
    await waitUntil("it to be tried", async () => harness.github.requests.length > 6);
    expect(await harness.state.workClaims.listOpen()).toHaveLength(1);
    failing = false;
    await waitUntil(
      "it to be closed",
      async () => harness.github.issues.get(1)?.state === "closed",
    );
  });
});

test("releases a failing issue twice and then blocks it for a person", async () => {
  const harness = await startWorkClaimsHarness();
  harness.github.addIssue(1);
  const claims = harness.claims();
  for (let round = 1; round <= 3; round++) {
    const claim = await harness.take(claims);
    await harness.admit(claim.job_id);
    claims.onAdmissionDecided(claim.job_id);
    await waitUntil("it to be announced", async () =>
      harness.github.labelsOfIssue(1).includes("in-progress"),
    );
    await harness.end(claim.job_id, "failed");
    claims.wake();
    await waitUntil(
      "it to be released",
      async () => (await harness.state.workClaims.listOpen()).length === 0,
    );
  }
  expect(harness.github.labelsOfIssue(1)).toEqual(["ready", "herdctl-failed"]);
  expect(harness.github.issues.get(1)).toMatchObject({ state: "open", assignees: [] });
  expect(
    harness.github.commentsOnIssue(1).filter((text) => text.includes("Not done")),
  ).toHaveLength(3);
  await expect(harness.take(claims)).rejects.toThrow("No item is available");
});

test("posts nothing on the issue of a job that was not admitted", async () => {
  const harness = await startWorkClaimsHarness();
  harness.github.addIssue(1);
  const claims = harness.claims();
  const claim = await harness.take(claims);
  const skipped = { code: "budget_exceeded" as const, message: "No money.", hint: "-" };
  await harness.state.jobs.create({ id: claim.job_id, agent: "one", prompt: "go", skipped });
  claims.onAdmissionDecided(claim.job_id);
  await waitUntil(
    "it to be released",
    async () => (await harness.state.workClaims.listOpen()).length === 0,
  );
  expect(harness.github.commentsOnIssue(1)).toEqual([]);
  expect(harness.github.labelsOfIssue(1)).toEqual(["ready"]);
  expect((await harness.take(claims)).item).toBe("1");
});
