import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { FleetManager } from "@herdctl/core/internal";
import type { Job } from "@herdctl/protocol";
import { expect, test } from "vitest";
import { waitUntil } from "../support/fleet-child-process.ts";
import { startHarness, type TestHarness } from "../support/harness.ts";
import { startFleetInProcess, writeFleetFile } from "../support/in-process-fleet.ts";
import { processesWithMarker } from "../support/processes-with-marker.ts";
import { toolCallPrompt } from "../support/runtimes-under-test.ts";

const manualTrigger = { agent: "one" };
/** Writes the pid of claude, the parent process of the tool. */
const recordPidPrompt = toolCallPrompt(["Bash", { command: "echo $PPID >> pids" }]);

async function runJobOnce(fleet: FleetManager, resume?: string): Promise<Job> {
  const { job } = await fleet.jobs.trigger({ ...manualTrigger, prompt: recordPidPrompt, resume });
  return fleet.jobs.wait(job.id);
}

/** Waits for a pre-started `claude` whose pid is not in `known`. */
function waitForPrestarted(file: string, known: readonly number[] = []): Promise<number> {
  const folder = join(dirname(file), ".herdctl", "live");
  return waitUntil("a pre-started claude", async () => {
    const tokens = existsSync(folder) ? readdirSync(folder) : [];
    const pids = tokens.filter((name) => name.startsWith("warm-")).flatMap(processesWithMarker);
    return pids.find((pid) => !known.includes(pid));
  });
}

function lastPid(harness: TestHarness): number {
  return Number(readFileSync(join(harness.workspace, "pids"), "utf8").trim().split("\n").at(-1));
}

test.each(["sdk", "cli"])(
  "gives each new session a pre-started claude, and a resumed one never (%s)",
  async (runtime) => {
    const harness = await startHarness({ mode: "obedient" });
    const file = writeFleetFile(
      harness,
      `  - { name: one, runtime: ${runtime}, keep_alive: { processes: 1 } }`,
    );
    const fleet = await startFleetInProcess(harness, file);
    const first = await waitForPrestarted(file);
    const job = await runJobOnce(fleet);
    expect(job).toMatchObject({ outcome: { code: "success" }, attempts: 1 });
    expect(job.cost_usd).toBeGreaterThan(0);
    expect(lastPid(harness)).toBe(first);

    const second = await waitForPrestarted(file, [first]);
    const resumed = await runJobOnce(fleet, job.session_id ?? "");
    expect(resumed).toMatchObject({ status: "completed", session_id: job.session_id });
    expect([first, second]).not.toContain(lastPid(harness));
    expect(processesWithMarker(job.id)).toEqual([]);
    const other = await runJobOnce(fleet);
    expect(other.session_id).not.toBe(job.session_id);
    expect(lastPid(harness)).toBe(second);

    await fleet.shutdown({ drainMs: 0 });
    expect(readdirSync(join(dirname(file), ".herdctl", "live"))).toEqual([]);
  },
);

test("does not use a pre-started claude whose inputs changed", async () => {
  const harness = await startHarness({ mode: "obedient" });
  execFileSync("git", ["init", "-q", harness.workspace]);
  writeFileSync(join(harness.workspace, "CLAUDE.md"), "Be kind.");
  const file = writeFleetFile(
    harness,
    "  - { name: one, runtime: cli, keep_alive: { processes: 1 } }",
  );
  const fleet = await startFleetInProcess(harness, file);
  const first = await waitForPrestarted(file);
  writeFileSync(join(harness.workspace, "CLAUDE.md"), "Be bold.");
  expect(await runJobOnce(fleet)).toMatchObject({ status: "completed", attempts: 1 });
  expect(lastPid(harness)).not.toBe(first);
  expect(JSON.stringify(harness.rehearsal.ledger.main.at(-1)?.body)).toContain("Be bold.");

  const second = await waitForPrestarted(file, [first]);
  writeFileSync(join(harness.workspace, "new-file"), "");
  expect(await runJobOnce(fleet)).toMatchObject({ status: "completed", attempts: 1 });
  expect(lastPid(harness)).not.toBe(second);
});
