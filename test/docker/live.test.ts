import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { FleetControl, Job } from "@herdctl/core";
import { describe, expect, test } from "vitest";
import { fingerprint } from "../../packages/core/src/runner/container/labels.ts";
import { docker, dockerStage, giveAll } from "../support/container.ts";
import { testEngine } from "../support/engine.ts";
import { fleetFile, startFleet } from "../support/fleet-process.ts";
import { fleetProgram, jobNow, until } from "../support/fleet-program.ts";
import { obey } from "../support/runtime.ts";
import type { Stage } from "../support/stage.ts";
import { sliceOf, wideTest } from "../support/width.ts";

const engine = await testEngine();
const turn = { trigger: "manual" as const, agent: "one", live: true };
const agent = (more = "", docker = "") =>
  `  - { name: one, runtime: cli, docker: { enabled: true${docker} }${more} }`;
const nothing = obey(["Bash", { command: "true" }]);
const patient = obey([
  "Bash",
  { command: "echo x >> began; while [ ! -e go ]; do sleep 0.05; done" },
]);

type Fleet = Pick<FleetControl, "trigger" | "wait">;

async function say(fleet: Fleet, prompt: string, more: object = {}): Promise<Job> {
  const { job } = await fleet.trigger({ ...turn, prompt, ...more });
  return fleet.wait(job.id);
}

function sessionOf(job: Job): string {
  return job.session_id ?? expect.fail("it has no session");
}

/** Those that there are for the stage's workspace, in whatever state. */
function containersOn(on: Stage): string[] {
  const filter = ["--filter", `label=herdctl.workspace=${fingerprint(on.workspace)}`];
  return docker(engine, "ps", "-a", "--no-trunc", ...filter, "--format", "{{.ID}}")
    .split("\n")
    .filter(Boolean);
}

function allGone(on: Stage): Promise<unknown> {
  return until("all containers to be gone", async () => containersOn(on).length === 0);
}

/** The container whose `claude` was started ahead, other than those known. */
function warmed(on: Stage, ...known: (string | null)[]): Promise<string> {
  const ahead = ["--filter", "name=herdctl-warm-", "--filter", `volume=${on.workspace}`];
  return until("a claude to be started ahead", async () => {
    const ids = docker(engine, "ps", "--no-trunc", ...ahead, "--format", "{{.ID}}").split("\n");
    const id = ids.find((one) => one !== "" && !known.includes(one));
    const isUp = id && docker(engine, "top", id).includes("/usr/local/bin/claude");
    return isUp && id;
  });
}

function liveFolders(file: string): string[] {
  const folder = join(dirname(file), ".herdctl", "live");
  return existsSync(folder) ? readdirSync(folder) : [];
}

describe.each(sliceOf(["cli", "sdk"], 1))("%s", (runtime) => {
  test("a conversation is begun in a container that was started ahead and goes on in it; each turn is a job of its own", async () => {
    const on = await dockerStage(engine, { mode: "obedient" });
    const file = fleetFile(
      on,
      agent(", warm: 1", ", egress: [allowed.example]").replace("cli", runtime),
    );
    const fleet = await startFleet(on, file);
    const ahead = await warmed(on);
    const first = await say(fleet, `${obey(["Bash", { command: "env > seen" }])} marmalade`);
    const resume = sessionOf(first);
    const ask = "curl -s -m 5 http://refused.example/ > /dev/null || true";
    const second = await say(fleet, obey(["Bash", { command: ask }]), { resume });
    const third = await say(fleet, nothing, { resume });

    for (const job of [first, second, third]) {
      expect(job).toMatchObject({ outcome: { code: "success" }, session_id: resume, attempts: 1 });
      expect(job).toMatchObject({ place: "docker", container_id: ahead });
      expect(job.cost_usd).toBeGreaterThan(0);
      expect(readFileSync(job.output_file, "utf8").match(/"type":"result"/g)).toHaveLength(1);
    }
    expect(JSON.stringify(on.rehearsal.ledger.main.at(-1)?.body)).toContain("marmalade");
    const refusals = [first, second, third].map(({ warnings }) => warnings.join());
    expect(refusals).toEqual(["", expect.stringContaining("refused.example"), ""]);
    expect(readFileSync(join(on.workspace, "seen"), "utf8")).not.toContain(
      on.env.ANTHROPIC_API_KEY,
    );
    expect(containersOn(on)).toContain(ahead);

    await fleet.stop({ drainMs: 0 });
    expect(containersOn(on)).toEqual([]);
    expect(liveFolders(file)).toEqual([]);
    expect(readdirSync(on.workspace)).toEqual(["seen"]);
  });
});

wideTest(
  "a job that is no turn takes the container that was started ahead, and it goes with the job",
  async () => {
    const on = await dockerStage(engine, { mode: "obedient" });
    const fleet = await startFleet(on, fleetFile(on, agent(", warm: 1")));
    const ahead = await warmed(on);
    const job = await say(fleet, nothing, { live: undefined });
    expect(job).toMatchObject({ outcome: { code: "success" }, container_id: ahead });
    expect(containersOn(on)).not.toContain(ahead);
    await warmed(on, ahead);
  },
);

wideTest("one that was told something else of its repository is not used", async () => {
  const on = await dockerStage(engine, { mode: "obedient" });
  execFileSync("git", ["init", "-q", on.workspace]);
  giveAll(on.workspace);
  const fleet = await startFleet(on, fleetFile(on, agent(", warm: 1")));
  const ahead = await warmed(on);
  writeFileSync(join(on.workspace, "new-file"), "");
  const job = await say(fleet, nothing, { live: undefined });
  expect(job.outcome).toMatchObject({ code: "success" });
  expect(job.container_id).not.toBe(ahead);
  const next = await warmed(on, ahead, job.container_id);
  expect(await say(fleet, nothing, { live: undefined })).toMatchObject({ container_id: next });
});

test("a tool that leaves something running takes the container with it, and the session goes on in another", async () => {
  const on = await dockerStage(engine, { mode: "obedient" });
  const fleet = await startFleet(on, fleetFile(on, agent()));
  const command = "setsid sh -c 'sleep 30; echo late > late' > /dev/null 2>&1 & true";
  const first = await say(fleet, obey(["Bash", { command }]));
  expect(first.outcome).toMatchObject({ code: "success" });
  expect(containersOn(on)).toEqual([]);
  const second = await say(fleet, nothing, { resume: sessionOf(first) });
  expect(second).toMatchObject({ status: "completed", session_id: sessionOf(first) });
  expect(containersOn(on)).toEqual([second.container_id]);
});

wideTest("what the container would be given has changed: the next turn has another", async () => {
  const on = await dockerStage(engine, { mode: "obedient" });
  const fleet = await startFleet(on, fleetFile(on, agent()));
  const first = await say(fleet, nothing);
  execFileSync("git", ["init", "-q", on.workspace]);
  giveAll(on.workspace);
  const second = await say(fleet, nothing, { resume: sessionOf(first) });
  expect(second).toMatchObject({ status: "completed", attempts: 1 });
  expect(containersOn(on)).toEqual([second.container_id]);
  expect(second.container_id).not.toBe(first.container_id);
});

wideTest(
  "the runner is killed between two turns or in one: its container goes, and the session goes on",
  async () => {
    const on = await dockerStage(engine, { mode: "obedient" });
    const fleet = await startFleet(on, fleetFile(on, agent()));
    const first = await say(fleet, nothing);
    const resume = sessionOf(first);
    process.kill(first.runner?.pid ?? 0, "SIGKILL");
    await allGone(on);

    const second = await say(fleet, nothing, { resume });
    expect(second).toMatchObject({ status: "completed", attempts: 1, session_id: resume });
    const { job } = await fleet.trigger({ ...turn, prompt: patient, resume });
    await until("the tool to begin", async () => existsSync(join(on.workspace, "began")));
    process.kill((await jobNow(fleet, job.id)).runner?.pid ?? 0, "SIGKILL");
    const third = await fleet.wait(job.id);
    expect(third).toMatchObject({ status: "completed", attempts: 2, session_id: resume });
    const attempts = (await fleet.job(job.id))?.attempts ?? [];
    expect(attempts[0]).toMatchObject({ crashed: true });
    expect(containersOn(on)).not.toContain(second.container_id);
  },
);

wideTest(
  "the fleet is killed in a second turn: it goes on in its container, which ends with it",
  async () => {
    const on = await dockerStage(engine, { mode: "obedient" });
    const file = fleetFile(on, agent(", warm: 1"));
    const before = await fleetProgram(on, file);
    const ahead = await warmed(on);
    const first = await say(before.control, nothing);
    const resume = sessionOf(first);
    const { job } = await before.control.trigger({ ...turn, prompt: patient, resume });
    await until("the tool to begin", async () => existsSync(join(on.workspace, "began")));
    const waiting = await warmed(on, ahead);
    await before.kill();
    await until("the one that waits to be gone", async () => !containersOn(on).includes(waiting));

    const after = await fleetProgram(on, file);
    await warmed(on, ahead, waiting);
    expect(containersOn(on)).toContain(ahead);
    writeFileSync(join(on.workspace, "go"), "");
    const second = await after.control.wait(job.id);
    expect(second).toMatchObject({ status: "completed", attempts: 1, container_id: ahead });
    await until("its container to be gone", async () => !containersOn(on).includes(ahead));
    await after.stop();
    expect(containersOn(on)).toEqual([]);
    expect(liveFolders(file)).toEqual([]);
  },
);

wideTest(
  "a changed agent loses its container at once; one that is not needed goes after a while",
  async () => {
    const on = await dockerStage(engine, { mode: "obedient" });
    const file = fleetFile(on, agent());
    const fleet = await startFleet(on, file);
    const first = await say(fleet, nothing);
    const text = readFileSync(file, "utf8");
    writeFileSync(file, text.replace("runtime: cli", "runtime: cli, session: { live: 1s }"));
    await fleet.reload();
    await allGone(on);
    const second = await say(fleet, nothing, { resume: sessionOf(first) });
    expect(second).toMatchObject({ status: "completed", session_id: sessionOf(first) });
    await allGone(on);
  },
);

wideTest("cancelled by force in its second turn, the container goes with it", async () => {
  const on = await dockerStage(engine, { mode: "obedient" });
  const fleet = await startFleet(on, fleetFile(on, agent()));
  const first = await say(fleet, nothing);
  const { job } = await fleet.trigger({ ...turn, prompt: patient, resume: sessionOf(first) });
  await until("the tool to begin", async () => existsSync(join(on.workspace, "began")));
  await fleet.cancel(job.id, { force: true });
  expect(await fleet.wait(job.id)).toMatchObject({ status: "cancelled", attempts: 1 });
  await allGone(on);
});

wideTest(
  "a process that is killed for want of memory is a warning on its turn, and ends the container",
  async () => {
    const on = await dockerStage(engine, { mode: "obedient" });
    const fleet = await startFleet(on, fleetFile(on, agent("", ", memory: 600m")));
    const first = await say(fleet, nothing);
    const resume = sessionOf(first);
    const second = await say(fleet, obey(["Bash", { command: "tail /dev/zero" }]), { resume });
    expect(second).toMatchObject({ outcome: { code: "success" } });
    expect(second.container_id).toBe(first.container_id);
    expect(second.warnings.join()).toContain("want of memory");
    expect(containersOn(on)).toEqual([]);
    const third = await say(fleet, nothing, { resume });
    expect(third).toMatchObject({ outcome: { code: "success" }, warnings: [] });
  },
);
