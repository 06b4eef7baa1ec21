import { appendFileSync, copyFileSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { StateManager } from "@herdctl/core/internal";
import type { Job, NodeView } from "@herdctl/protocol";
import { expect, test } from "vitest";
import { createTestDatabase, sharedPostgresAddress } from "../support/postgres.ts";
import { tempFolderWith } from "../support/temp-folder.ts";
import { type CliHarness, startCliHarness } from "./cli-harness.ts";
import { runHerdctl } from "./run-herdctl.ts";
import { stopAfterTest } from "./running-fleet.ts";

await sharedPostgresAddress();

const longTimeout = { timeout: 240_000 };

/** Moves the fleet's state to the store from now on. */
function shareStore({ folder }: CliHarness): void {
  appendFileSync(join(folder, "herdctl.yaml"), "store: ${HERDCTL_STORE}\n");
}

async function startHarnessWithStore(): Promise<CliHarness & { store: string }> {
  const harness = await startCliHarness();
  const store = await createTestDatabase();
  writeFileSync(join(harness.folder, ".env"), `HERDCTL_STORE=${store}\n`, { mode: 0o600 });
  return { ...harness, store };
}

const listNodes = async (harness: Pick<CliHarness, "run">): Promise<NodeView[]> =>
  JSON.parse((await harness.run("nodes", "--json")).stdout).nodes;

test(
  "migrates an embedded fleet to a shared store with history and sessions",
  longTimeout,
  async () => {
    const harness = await startHarnessWithStore();
    const before = await harness.trigger("cli", "-p", "hello");
    stopAfterTest(harness);
    await harness.run("start", "--detach");
    const early = await harness.run("store", "migrate", "--to-env", "HERDCTL_STORE");
    expect(early.code).toBe(3);
    expect(early.stderr).toMatch(/the fleet is running[\s\S]*herdctl stop/);
    await harness.run("stop");

    const moved = await harness.run("store", "migrate", "--to-env", "HERDCTL_STORE");
    expect([moved.code, moved.stderr]).toEqual([0, expect.stringMatching(/✓ jobs {2}1 row\n/)]);
    expect(moved.stdout).toMatch(
      /copied to postgres:\/\/.* and compared[\s\S]*store: \$\{HERDCTL_STORE\}/,
    );
    const again = await harness.run("store", "migrate", "--to-env", "HERDCTL_STORE");
    expect([again.code, again.stderr]).toEqual([2, expect.stringContaining("is not empty")]);

    shareStore(harness);
    const { jobs } = JSON.parse((await harness.run("jobs", "--json")).stdout);
    expect(jobs).toMatchObject([{ id: before.id, session_id: before.session_id }]);
    const alone = await harness.run("trigger", "cli", "-p", "hello");
    expect([alone.code, alone.stderr]).toEqual([
      3,
      expect.stringContaining("no node of it is running on this machine"),
    ]);

    const started = await harness.run(
      "start",
      "--detach",
      "--node-name",
      "desk",
      "--labels",
      "a,b",
    );
    expect(started.code, started.stderr).toBe(0);
    const after = await harness.trigger("cli", "--resume", before.id, "-p", "and on");
    expect(after).toMatchObject({ status: "completed", session_id: before.session_id });
    const [desk] = await listNodes(harness);
    expect(desk).toMatchObject({ name: "desk", labels: ["a", "b"], self: true, leader: true });
    expect((await harness.run("job", after.id)).stdout).toMatch(/node +desk\n/);

    expect((await harness.run("restart")).code).toBe(0);
    expect(await listNodes(harness)).toMatchObject([
      { ...pickFields(desk, "id", "name", "labels"), status: "live" },
    ]);
    await harness.run("stop");
    expect(await listNodes(harness)).toMatchObject([{ name: "desk", status: "left" }]);
  },
);

test(
  "shows a job of one machine on the other, while its node runs and afterwards",
  longTimeout,
  async () => {
    const harness = await startHarnessWithStore();
    const builder =
      "  - { name: builder, runtime: cli, runs_on: [builds], default_prompt: hello }\n";
    appendFileSync(join(harness.folder, "herdctl.yaml"), builder);
    shareStore(harness);
    const other = { ...harness, folder: secondMachine(harness) };
    const there = { cwd: other.folder, env: harness.env };
    stopAfterTest(harness);
    stopAfterTest(other);
    expect((await harness.run("start", "--detach", "--node-name", "desk")).code).toBe(0);
    const rack = [
      "--node-name",
      "rack",
      "--labels",
      "builds",
      "--role",
      "worker",
      "--capacity",
      "2",
    ];
    expect((await runHerdctl(["start", "--detach", ...rack], there)).code).toBe(0);

    const { stdout } = await harness.run("nodes");
    expect(stdout).toMatch(/^desk \(here\) +● live +all, leader +0 of 10 /m);
    expect(stdout).toMatch(/^rack +● live +worker +0 of 2 .* builds$/m);
    const job: Job = await harness.trigger("builder");
    const [, second] = await listNodes(harness);
    expect(job).toMatchObject({ status: "completed", node: second?.id });
    const seen = await harness.run("job", job.id);
    expect(seen.stdout).toMatch(/node +rack\n/);
    expect(seen.stdout).toContain(`herdctl logs ${job.id}`);
    const logs = (await harness.run("logs", job.id, "--json")).stdout;
    expect(logs).toContain('"result"');

    for (const place of [there, { cwd: harness.folder, env: harness.env }])
      await runHerdctl(["stop"], place);
    expect((await harness.run("logs", job.id, "--json")).stdout).toBe(logs);
    const { sessions } = JSON.parse((await harness.run("sessions", "--json")).stdout);
    expect(sessions).toMatchObject([{ node: second?.id, obstacle: { short: "other node" } }]);
    const resumed = await harness.run("sessions", "resume", job.id);
    expect([resumed.code, resumed.stderr]).toEqual([4, expect.stringContaining("on another node")]);
    const doctor = JSON.parse((await harness.run("doctor", "--offline", "--json")).stdout);
    const store = doctor.checks.filter(({ name }: { name: string }) => name.startsWith("store"));
    expect(store).toMatchObject([{ verdict: "ok" }, { verdict: "ok" }]);
  },
);

function secondMachine({ folder }: CliHarness): string {
  const other = tempFolderWith({});
  mkdirSync(other, { recursive: true });
  for (const file of ["herdctl.yaml", ".env"]) copyFileSync(join(folder, file), join(other, file));
  return other;
}

function pickFields<T extends object, K extends keyof T>(from: T | undefined, ...keys: K[]) {
  return Object.fromEntries(keys.map((key) => [key, from?.[key]]));
}

test("requires one migration target and refuses a password on the command line", async () => {
  const harness = await startCliHarness();
  const refused = async (...args: string[]) => {
    const { code, stderr } = await harness.run("store", "migrate", ...args);
    expect(code).toBe(2);
    expect(stderr).not.toContain("made-up-word");
    return stderr;
  };
  expect(await refused()).toContain("give either `--to` or `--to-env`");
  expect(await refused("--to", "postgres://db/herd", "--to-env", "X")).toContain("give either");
  expect(await refused("--to-env", "NOT_SET")).toContain("NOT_SET is not set");
  expect(await refused("--to", "postgres://a:made-up-word@db/herd")).toContain("command line");
  expect(await refused("--to", "postgres://db/herd")).toContain("there is no state here");
  await (await new StateManager(join(harness.folder, ".herdctl")).open()).close();
  expect(await refused("--to", "mysql://made-up-word/herd")).toContain("address of a PostgreSQL");
  const away = await harness.run("store", "migrate", "--to", "postgres://herd@127.0.0.1:1/herd");
  expect([away.code, away.stderr]).toEqual([
    4,
    expect.stringContaining("the connection was refused"),
  ]);
});
