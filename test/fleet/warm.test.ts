import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { FleetManager, Job } from "@herdctl/core";
import { expect, test } from "vitest";
import { fleetFile, startFleet } from "../support/fleet-process.ts";
import { until } from "../support/fleet-program.ts";
import { processesWith } from "../support/processes.ts";
import { obey } from "../support/runtime.ts";
import { type Stage, stage } from "../support/stage.ts";

const manual = { trigger: "manual" as const, agent: "one" };
/** Notes which process it is in: a tool is a child of its claude. */
const whoIsIt = obey(["Bash", { command: "echo $PPID >> pids" }]);

async function run(fleet: FleetManager, resume?: string): Promise<Job> {
  const { job } = await fleet.trigger({ ...manual, prompt: whoIsIt, resume });
  return fleet.wait(job.id);
}

/** The pid of the `claude` that was started ahead, other than those known. */
function warmed(file: string, known: readonly number[] = []): Promise<number> {
  const folder = join(dirname(file), ".herdctl", "live");
  return until("a claude to be started ahead", async () => {
    const tokens = existsSync(folder) ? readdirSync(folder) : [];
    const pids = tokens.filter((name) => name.startsWith("warm-")).flatMap(processesWith);
    return pids.find((pid) => !known.includes(pid));
  });
}

function lastPid(on: Stage): number {
  return Number(readFileSync(join(on.workspace, "pids"), "utf8").trim().split("\n").at(-1));
}

test.each(["sdk", "cli"])(
  "a fresh job is given a claude that was started ahead, one each; a resumed one never (%s)",
  async (runtime) => {
    const on = await stage({ mode: "obedient" });
    const file = fleetFile(on, `  - { name: one, runtime: ${runtime}, warm: 1 }`);
    const fleet = await startFleet(on, file);
    const first = await warmed(file);
    const job = await run(fleet);
    expect(job).toMatchObject({ outcome: { code: "success" }, attempts: 1 });
    expect(job.cost_usd).toBeGreaterThan(0);
    expect(lastPid(on)).toBe(first);

    const second = await warmed(file, [first]);
    const resumed = await run(fleet, job.session_id ?? "");
    expect(resumed).toMatchObject({ status: "completed", session_id: job.session_id });
    expect([first, second]).not.toContain(lastPid(on));
    expect(processesWith(job.id)).toEqual([]);
    const other = await run(fleet);
    expect(other.session_id).not.toBe(job.session_id);
    expect(lastPid(on)).toBe(second);

    await fleet.stop({ drainMs: 0 });
    expect(readdirSync(join(dirname(file), ".herdctl", "live"))).toEqual([]);
  },
);

test("one that was told something else at its start is not used", async () => {
  const on = await stage({ mode: "obedient" });
  execFileSync("git", ["init", "-q", on.workspace]);
  writeFileSync(join(on.workspace, "CLAUDE.md"), "Be kind.");
  const file = fleetFile(on, "  - { name: one, runtime: cli, warm: 1 }");
  const fleet = await startFleet(on, file);
  const first = await warmed(file);
  writeFileSync(join(on.workspace, "CLAUDE.md"), "Be bold.");
  expect(await run(fleet)).toMatchObject({ status: "completed", attempts: 1 });
  expect(lastPid(on)).not.toBe(first);
  expect(JSON.stringify(on.rehearsal.ledger.main.at(-1)?.body)).toContain("Be bold.");

  const second = await warmed(file, [first]);
  writeFileSync(join(on.workspace, "new-file"), "");
  expect(await run(fleet)).toMatchObject({ status: "completed", attempts: 1 });
  expect(lastPid(on)).not.toBe(second);
});
