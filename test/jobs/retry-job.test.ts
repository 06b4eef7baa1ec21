import { outcomes } from "@herdctl/protocol";
import { expect, test } from "vitest";
import { retryCandidate } from "../../packages/core/src/jobs/admission/retry-job.ts";
import { startHarness } from "../support/harness.ts";
import { startFleetInProcess, writeFleetFile } from "../support/in-process-fleet.ts";

const old = {
  ...{ agent: "coder", prompt: "Fix it", session_id: "s-1", schedule: "nightly" },
  ...{ untrusted: true, expand_prompt: true },
};
const actor = { identity: "user:ada", origin: "socket" };

test("a retry keeps the session, the schedule and the distrust of the job", () => {
  expect(retryCandidate(old, ["nightly"], false, actor)).toEqual({
    request: {
      ...{ trigger: "manual", agent: "coder", prompt: "Fix it", expand: true },
      ...{ schedule: "nightly", resume: "s-1" },
    },
    ...{ by: "user:ada", overlap: "allow", untrusted: true },
  });
  const fresh = retryCandidate(old, [], true, actor);
  const request = { trigger: "manual", agent: "coder", prompt: "Fix it", expand: true };
  expect(fresh.request).toEqual(request);
});

test("runs a finished job again in its session, and ends the wait of a limited one", async () => {
  const harness = await startHarness({ script: { rules: [{ reply: "Done." }] } });
  const fleet = await startFleetInProcess(harness, writeFleetFile(harness, "  - { name: coder }"));
  const { job } = await fleet.jobs.trigger({ agent: "coder", prompt: "Fix it" });
  const first = await fleet.jobs.wait(job.id);
  await expect(fleet.jobs.tryNow(job.id)).rejects.toThrow(/does not wait for a limit/);
  const again = await fleet.jobs.wait((await fleet.jobs.retry(job.id)).job.id);
  expect(again).toMatchObject({ prompt: "Fix it", resumed_from: first.session_id });
  const fresh = await fleet.jobs.wait((await fleet.jobs.retry(job.id, { fresh: true })).job.id);
  expect(fresh).toMatchObject({ resumed_from: null, outcome: { code: "success" } });
  expect(fresh.session_id).not.toBe(first.session_id);
  expect(outcomes.success.status).toBe(fresh.status);
});
