import { existsSync } from "node:fs";
import { join } from "node:path";
import type { AllowScope, Approval, FleetControl } from "@herdctl/protocol";
import { expect, test } from "vitest";
import { waitUntil } from "../support/fleet-child-process.ts";
import { startHarness, type TestHarness } from "../support/harness.ts";
import { startFleetInProcess, writeFleetFile } from "../support/in-process-fleet.ts";
import { toolCallPrompt } from "../support/runtimes-under-test.ts";
import { testSubset } from "../support/test-subset.ts";

const initPrompt = (...names: string[]) =>
  toolCallPrompt(
    ...names.map((name): [string, object] => ["Bash", { command: `git init -q ${name}` }]),
  );

/** Runs a job that may ask, and answers its requests with this scope, or denies them. */
async function runAnswering(
  fleet: FleetControl,
  prompt: string,
  { scope, resume }: { scope?: AllowScope; resume?: string } = {},
) {
  const asked: Approval[] = [];
  const stop = fleet.on("approval:requested", ({ approval }) => {
    asked.push(approval);
    void fleet.approvals.answer(approval.id, scope ? { allow: scope } : "deny");
  });
  const { job } = await fleet.jobs.trigger({ agent: "one", prompt, conversation: true, resume });
  const ended = await fleet.jobs.wait(job.id);
  stop();
  return { asked, ended };
}

async function startFleet(harness: TestHarness, runtime: string) {
  const agent = `  - { name: one, runtime: ${runtime}, permission_mode: default }`;
  return startFleetInProcess(harness, writeFleetFile(harness, agent, "max_keep_alive: 4"));
}

test.each(testSubset(["sdk", "cli"], 2))(
  "asks again or not with the %s runtime, as the person decided",
  async (runtime) => {
    const harness = await startHarness({ mode: "obedient" });
    const fleet = await startFleet(harness, runtime);

    const forJob = await runAnswering(fleet, initPrompt("a", "b"), { scope: "job" });
    expect(forJob.ended.outcome?.code).toBe("success");
    expect(forJob.asked).toHaveLength(1);
    expect(forJob.asked[0]?.suggested_rules).toEqual([{ tool: "Bash", content: "git init *" }]);

    // The same session, whose kept `claude` knows the rule of the earlier job.
    const resume = forJob.ended.id;
    const nextJob = await runAnswering(fleet, initPrompt("c"), { resume });
    expect(nextJob.asked).toHaveLength(1);
    expect(nextJob.ended.outcome?.code).toBe("finished_with_denials");

    const always = await runAnswering(fleet, initPrompt("d"), { scope: "always" });
    expect(always.asked).toHaveLength(1);
    const later = await runAnswering(fleet, initPrompt("e"));
    expect(later.asked).toEqual([]);
    expect(later.ended.outcome?.code).toBe("success");

    const rule = (await fleet.rules.list()).find(({ job_id }) => job_id === null);
    await fleet.rules.remove(rule?.id ?? "");
    const revoked = await runAnswering(fleet, initPrompt("f"));
    expect(revoked.asked).toHaveLength(1);
    expect(existsSync(join(harness.workspace, "e", ".git"))).toBe(true);
    const actions = (await fleet.audit.list({ limit: 100 })).records.map(({ action }) => action);
    expect(actions).toContain("rule.remove");
    await waitUntil(
      "no request to be open",
      async () => (await fleet.approvals.list()).length === 0,
    );
  },
);
