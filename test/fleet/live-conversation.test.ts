import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { FleetControl, Job } from "@herdctl/core";
import { describe, expect, test } from "vitest";
import { fleetFile, startFleet } from "../support/fleet-process.ts";
import { until } from "../support/fleet-program.ts";
import { processesWith } from "../support/processes.ts";
import { obey } from "../support/runtime.ts";
import { type Stage, stage } from "../support/stage.ts";

const manual = { trigger: "manual" as const, agent: "one", live: true };

/** A turn that notes which process it is in: a tool is a child of its claude. */
const whoIsIt = obey(["Bash", { command: "echo $PPID >> pids" }]);

async function say(
  fleet: Pick<FleetControl, "trigger" | "wait">,
  prompt: string,
  more: Partial<Parameters<FleetControl["trigger"]>[0]> = {},
): Promise<Job> {
  const { job } = await fleet.trigger({ ...manual, prompt, ...more });
  return fleet.wait(job.id);
}

function pidsIn(on: Stage): string[] {
  return readFileSync(join(on.workspace, "pids"), "utf8").trim().split("\n");
}

function liveFolders(file: string): string[] {
  const folder = join(dirname(file), ".herdctl", "live");
  return existsSync(folder) ? readdirSync(folder) : [];
}

describe.each(["sdk", "cli"])("%s", (runtime) => {
  const agents = `  - { name: one, runtime: ${runtime} }`;

  test("three turns of a conversation are one claude, three jobs, each with its own cost", async () => {
    const on = await stage({ mode: "obedient" });
    const file = fleetFile(on, agents);
    const fleet = await startFleet(on, file);
    const first = await say(fleet, whoIsIt);
    const resume = first.session_id ?? "";
    const second = await say(fleet, whoIsIt, { resume });
    const third = await say(fleet, whoIsIt, { resume });

    expect(new Set(pidsIn(on)).size).toBe(1);
    for (const job of [first, second, third]) {
      expect(job).toMatchObject({ outcome: { code: "success" }, session_id: resume, attempts: 1 });
    }
    expect(processesWith(first.id).map(String)).toContain(pidsIn(on)[0]);
    await fleet.stop({ drainMs: 0 });
    expect(processesWith(first.id)).toEqual([]);
    expect(liveFolders(file)).toEqual([]);
  });
});
