import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { FleetControl, Job } from "@herdctl/protocol";
import { describe, expect, test } from "vitest";
import { shortHash } from "../../packages/core/src/docker/container-labels.ts";
import {
  costPerCallUsd,
  directCalls,
  model,
  scriptForCommand,
} from "../spending/api-call-scripts.ts";
import { sharedEngine } from "../support/docker-engine.ts";
import { chownToContainerUser, docker, startDockerHarness } from "../support/docker-harness.ts";
import { readJob, startFleetProcess, waitUntil } from "../support/fleet-child-process.ts";
import type { TestHarness } from "../support/harness.ts";
import { createHostRepository, type HostRepository } from "../support/host-repository.ts";
import { writeFleetFile as fileFor, startFleetInProcess } from "../support/in-process-fleet.ts";
import { listRunFolders } from "../support/private-git-harness.ts";
import { toolCallPrompt } from "../support/runtimes-under-test.ts";
import { testSubset, wideTest } from "../support/test-subset.ts";

const engine = await sharedEngine();
const turnRequest = { agent: "one", conversation: true };
const agent = (more = "", docker = "") =>
  `  - { name: one, runtime: cli, docker: { enabled: true${docker} }${more} }`;
const noopToolPrompt = toolCallPrompt(["Bash", { command: "true" }]);
const waitingToolPrompt = toolCallPrompt([
  "Bash",
  { command: "echo x >> began; while [ ! -e go ]; do sleep 0.05; done" },
]);

/** Keeps sessions alive, unlike most tests. */
function writeKeepAliveFleetFile(
  harness: TestHarness,
  agents: string,
  fleet = "max_keep_alive: 4",
): string {
  return fileFor(harness, agents, fleet);
}

type Fleet = Pick<FleetControl, "jobs">;

async function runTurn(fleet: Fleet, prompt: string, more: object = {}): Promise<Job> {
  const { job } = await fleet.jobs.trigger({ ...turnRequest, prompt, ...more });
  return fleet.jobs.wait(job.id);
}

function sessionOf(job: Job): string {
  return job.session_id ?? expect.fail("it has no session");
}

/** All containers for the harness workspace, in any state. */
function containersOn(harness: TestHarness): string[] {
  const filter = ["--filter", `label=herdctl.workspace=${shortHash(harness.workspace)}`];
  return docker(engine, "ps", "-a", "--no-trunc", ...filter, "--format", "{{.ID}}")
    .split("\n")
    .filter(Boolean);
}

function waitUntilNoContainers(harness: TestHarness): Promise<unknown> {
  return waitUntil("all containers to be gone", async () => containersOn(harness).length === 0);
}

/** Waits for a container with a pre-started `claude` that is not one of `known`. */
function waitForPrestarted(harness: TestHarness, ...known: (string | null)[]): Promise<string> {
  const ahead = ["--filter", "name=herdctl-warm-", "--filter", `volume=${harness.workspace}`];
  return waitUntil("a pre-started claude", async () => {
    const ids = docker(engine, "ps", "--no-trunc", ...ahead, "--format", "{{.ID}}").split("\n");
    const id = ids.find((one) => one !== "" && !known.includes(one));
    const isUp = id && docker(engine, "top", id).includes("/usr/local/bin/claude");
    return isUp && id;
  });
}

/** The commits are in the repository while the container waits for the next turn. */
function expectCommits({ git }: HostRepository, job: Job, subjects: string): void {
  const ref = `refs/herdctl/${job.id}`;
  expect(job.git).toMatchObject({ ref, commits: 1 });
  expect(git("log", "--format=%s", ref)).toBe(subjects);
}

function keepAliveFolders(file: string): string[] {
  const folder = join(dirname(file), ".herdctl", "live");
  return existsSync(folder) ? readdirSync(folder) : [];
}

describe.each(testSubset(["cli", "sdk"], 1))("%s", (runtime) => {
  test("starts a conversation in a pre-started container and continues in it, with one job and its commits per turn", async () => {
    const harness = await startDockerHarness(engine, { mode: "obedient" });
    const host = createHostRepository(harness.env, harness.workspace);
    chownToContainerUser(harness.workspace);
    const file = writeKeepAliveFleetFile(
      harness,
      agent(", keep_alive: { processes: 1 }", ", egress: [allowed.example]").replace(
        "cli",
        runtime,
      ),
    );
    const fleet = await startFleetInProcess(harness, file);
    const ahead = await waitForPrestarted(harness);
    const commit = (subject: string) => `git commit -q --allow-empty -m ${subject}`;
    const begin = `env > seen; ${commit("two")}`;
    const first = await runTurn(fleet, `${toolCallPrompt(["Bash", { command: begin }])} marmalade`);
    expectCommits(host, first, "two\none");
    const resume = sessionOf(first);
    const ask = "curl -s -m 5 http://refused.example/ > /dev/null || true";
    const second = await runTurn(
      fleet,
      toolCallPrompt(["Bash", { command: `${ask}; ${commit("three")}` }]),
      {
        resume,
      },
    );
    expectCommits(host, second, "three\ntwo\none");
    const third = await runTurn(fleet, noopToolPrompt, { resume });
    expect(third.git).toBeNull();

    for (const job of [first, second, third]) {
      expect(job).toMatchObject({ outcome: { code: "success" }, session_id: resume, attempts: 1 });
      expect(job).toMatchObject({ session_home: "docker", container_id: ahead });
      expect(job.cost_usd).toBeGreaterThan(0);
      expect(readFileSync(job.output_file, "utf8").match(/"type":"result"/g)).toHaveLength(1);
    }
    expect(JSON.stringify(harness.rehearsal.ledger.main.at(-1)?.body)).toContain("marmalade");
    const refusals = [first, second, third].map(({ warnings }) => warnings.join());
    expect(refusals).toEqual(["", expect.stringContaining("refused.example"), ""]);
    expect(readFileSync(join(harness.workspace, "seen"), "utf8")).not.toContain(
      harness.env.ANTHROPIC_API_KEY,
    );
    expect(containersOn(harness)).toContain(ahead);

    await fleet.shutdown({ drainMs: 0 });
    expect(containersOn(harness)).toEqual([]);
    expect(keepAliveFolders(file)).toEqual([]);
    expect(readdirSync(harness.workspace).sort()).toEqual([".git", "file", "seen"]);
    expect(listRunFolders(join(dirname(file), ".herdctl"))).toEqual([]);
    expect(host.git("log", "--format=%s")).toBe("one");
  });
});

wideTest("uses the pre-started container for a single job and removes it afterwards", async () => {
  const harness = await startDockerHarness(engine, { mode: "obedient" });
  const fleet = await startFleetInProcess(
    harness,
    writeKeepAliveFleetFile(harness, agent(", keep_alive: { processes: 1 }")),
  );
  const ahead = await waitForPrestarted(harness);
  const job = await runTurn(fleet, noopToolPrompt, { conversation: undefined });
  expect(job).toMatchObject({ outcome: { code: "success" }, container_id: ahead });
  expect(containersOn(harness)).not.toContain(ahead);
  await waitForPrestarted(harness, ahead);
});

wideTest("limits a job in a pre-started container to `max_budget_usd`", async () => {
  const harness = await startDockerHarness(engine, { script: scriptForCommand(directCalls(5)) });
  const settings = `, model: ${model}, max_budget_usd: 0.2, keep_alive: { processes: 1 }`;
  const fleet = await startFleetInProcess(
    harness,
    writeKeepAliveFleetFile(harness, agent(settings)),
  );
  const container_id = await waitForPrestarted(harness);
  const job = await runTurn(fleet, "spend");
  expect(job).toMatchObject({ outcome: { code: "budget_exceeded" }, container_id });
  const calls = harness.rehearsal.ledger.entries.filter(
    ({ prompt, usage }) => usage && prompt?.includes("direct call"),
  );
  expect(calls).toHaveLength(2);
  expect(job.cost_usd).toBeGreaterThanOrEqual(2 * costPerCallUsd);
});

wideTest("does not use a pre-started container whose view of the repository changed", async () => {
  const harness = await startDockerHarness(engine, { mode: "obedient" });
  execFileSync("git", ["init", "-q", harness.workspace]);
  chownToContainerUser(harness.workspace);
  const fleet = await startFleetInProcess(
    harness,
    writeKeepAliveFleetFile(harness, agent(", keep_alive: { processes: 1 }")),
  );
  const ahead = await waitForPrestarted(harness);
  writeFileSync(join(harness.workspace, "new-file"), "");
  const job = await runTurn(fleet, noopToolPrompt, { conversation: undefined });
  expect(job.outcome).toMatchObject({ code: "success" });
  expect(job.container_id).not.toBe(ahead);
  const next = await waitForPrestarted(harness, ahead, job.container_id);
  expect(await runTurn(fleet, noopToolPrompt, { conversation: undefined })).toMatchObject({
    container_id: next,
  });
});

test("removes a container with a leftover process and continues the session in another", async () => {
  const harness = await startDockerHarness(engine, { mode: "obedient" });
  const fleet = await startFleetInProcess(harness, writeKeepAliveFleetFile(harness, agent()));
  const command = "setsid sh -c 'sleep 30; echo late > late' > /dev/null 2>&1 & true";
  const first = await runTurn(fleet, toolCallPrompt(["Bash", { command }]));
  expect(first.outcome).toMatchObject({ code: "success" });
  expect(containersOn(harness)).toEqual([]);
  const second = await runTurn(fleet, noopToolPrompt, { resume: sessionOf(first) });
  expect(second).toMatchObject({ status: "completed", session_id: sessionOf(first) });
  expect(containersOn(harness)).toEqual([second.container_id]);
});

wideTest("uses a new container when its inputs have changed", async () => {
  const harness = await startDockerHarness(engine, { mode: "obedient" });
  const fleet = await startFleetInProcess(harness, writeKeepAliveFleetFile(harness, agent()));
  const first = await runTurn(fleet, noopToolPrompt);
  execFileSync("git", ["init", "-q", harness.workspace]);
  chownToContainerUser(harness.workspace);
  const second = await runTurn(fleet, noopToolPrompt, { resume: sessionOf(first) });
  expect(second).toMatchObject({ status: "completed", attempts: 1 });
  expect(containersOn(harness)).toEqual([second.container_id]);
  expect(second.container_id).not.toBe(first.container_id);
});

wideTest(
  "removes the container of a runner that is killed between or during turns, and continues the session",
  async () => {
    const harness = await startDockerHarness(engine, { mode: "obedient" });
    const fleet = await startFleetInProcess(harness, writeKeepAliveFleetFile(harness, agent()));
    const first = await runTurn(fleet, noopToolPrompt);
    const resume = sessionOf(first);
    process.kill(first.runner?.pid ?? 0, "SIGKILL");
    await waitUntilNoContainers(harness);

    const second = await runTurn(fleet, noopToolPrompt, { resume });
    expect(second).toMatchObject({ status: "completed", attempts: 1, session_id: resume });
    const { job } = await fleet.jobs.trigger({ ...turnRequest, prompt: waitingToolPrompt, resume });
    await waitUntil("the tool to start", async () => existsSync(join(harness.workspace, "began")));
    process.kill((await readJob(fleet, job.id)).runner?.pid ?? 0, "SIGKILL");
    const third = await fleet.jobs.wait(job.id);
    expect(third).toMatchObject({ status: "completed", attempts: 2, session_id: resume });
    const attempts = (await fleet.jobs.get(job.id))?.attempts ?? [];
    expect(attempts[0]).toMatchObject({ crashed: true });
    expect(containersOn(harness)).not.toContain(second.container_id);
  },
);

wideTest(
  "finishes a second turn in its container when the fleet is killed, and then removes the container",
  async () => {
    const harness = await startDockerHarness(engine, { mode: "obedient" });
    const file = writeKeepAliveFleetFile(harness, agent(", keep_alive: { processes: 1 }"));
    const before = await startFleetProcess(harness, file);
    const ahead = await waitForPrestarted(harness);
    const first = await runTurn(before.control, noopToolPrompt);
    const resume = sessionOf(first);
    const { job } = await before.control.jobs.trigger({
      ...turnRequest,
      prompt: waitingToolPrompt,
      resume,
    });
    await waitUntil("the tool to start", async () => existsSync(join(harness.workspace, "began")));
    const waiting = await waitForPrestarted(harness, ahead);
    await before.kill();
    await waitUntil(
      "the one that waits to be gone",
      async () => !containersOn(harness).includes(waiting),
    );

    const after = await startFleetProcess(harness, file);
    await waitForPrestarted(harness, ahead, waiting);
    expect(containersOn(harness)).toContain(ahead);
    writeFileSync(join(harness.workspace, "go"), "");
    const second = await after.control.jobs.wait(job.id);
    expect(second).toMatchObject({ status: "completed", attempts: 1, container_id: ahead });
    await waitUntil("its container to be gone", async () => !containersOn(harness).includes(ahead));
    await after.stop();
    expect(containersOn(harness)).toEqual([]);
    expect(keepAliveFolders(file)).toEqual([]);
  },
);

wideTest(
  "removes the container of a changed agent immediately, and an unused one after a while",
  async () => {
    const harness = await startDockerHarness(engine, { mode: "obedient" });
    const file = writeKeepAliveFleetFile(harness, agent());
    const fleet = await startFleetInProcess(harness, file);
    const first = await runTurn(fleet, noopToolPrompt);
    const text = readFileSync(file, "utf8");
    writeFileSync(file, text.replace("runtime: cli", "runtime: cli, keep_alive: { sessions: 1s }"));
    await fleet.reload();
    await waitUntilNoContainers(harness);
    const second = await runTurn(fleet, noopToolPrompt, { resume: sessionOf(first) });
    expect(second).toMatchObject({ status: "completed", session_id: sessionOf(first) });
    await waitUntilNoContainers(harness);
  },
);

wideTest("removes the container when its second turn is cancelled by force", async () => {
  const harness = await startDockerHarness(engine, { mode: "obedient" });
  const fleet = await startFleetInProcess(harness, writeKeepAliveFleetFile(harness, agent()));
  const first = await runTurn(fleet, noopToolPrompt);
  const { job } = await fleet.jobs.trigger({
    ...turnRequest,
    prompt: waitingToolPrompt,
    resume: sessionOf(first),
  });
  await waitUntil("the tool to start", async () => existsSync(join(harness.workspace, "began")));
  await fleet.jobs.cancel(job.id, { force: true });
  expect(await fleet.jobs.wait(job.id)).toMatchObject({ status: "cancelled", attempts: 1 });
  await waitUntilNoContainers(harness);
});

wideTest(
  "adds a warning to a turn with a process killed out of memory, and removes the container",
  async () => {
    const harness = await startDockerHarness(engine, { mode: "obedient" });
    const fleet = await startFleetInProcess(
      harness,
      writeKeepAliveFleetFile(harness, agent("", ", memory: 600m")),
    );
    const first = await runTurn(fleet, noopToolPrompt);
    const resume = sessionOf(first);
    const second = await runTurn(fleet, toolCallPrompt(["Bash", { command: "tail /dev/zero" }]), {
      resume,
    });
    expect(second).toMatchObject({ outcome: { code: "success" } });
    expect(second.container_id).toBe(first.container_id);
    expect(second.warnings.join()).toContain("memory ran out");
    expect(containersOn(harness)).toEqual([]);
    const third = await runTurn(fleet, noopToolPrompt, { resume });
    expect(third).toMatchObject({ outcome: { code: "success" }, warnings: [] });
  },
);
