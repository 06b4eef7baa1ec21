import { appendFileSync, copyFileSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Job, type NodeView, StateManager } from "@herdctl/core";
import { expect, test } from "vitest";
import { folderWith } from "../support/folder.ts";
import { testDatabase, testServer } from "../support/postgres.ts";
import { type FleetStage, fleetStage } from "./fleet-stage.ts";
import { stopWhenOver } from "./fleet-stage-running.ts";
import { herdctl } from "./herdctl.ts";

await testServer();

const long = { timeout: 240_000 };

/** From now on the fleet's state is in the store. */
function share({ folder }: FleetStage): void {
  appendFileSync(join(folder, "herdctl.yaml"), "store: ${HERDCTL_STORE}\n");
}

async function withStore(): Promise<FleetStage & { store: string }> {
  const on = await fleetStage();
  const store = await testDatabase();
  writeFileSync(join(on.folder, ".env"), `HERDCTL_STORE=${store}\n`, { mode: 0o600 });
  return { ...on, store };
}

const nodesOf = async (on: Pick<FleetStage, "run">): Promise<NodeView[]> =>
  JSON.parse((await on.run("nodes", "--json")).stdout).nodes;

test(
  "an embedded fleet moves to a shared store and goes on, history and sessions and all",
  long,
  async () => {
    const on = await withStore();
    const before = await on.trigger("cli", "-p", "hello");
    stopWhenOver(on);
    await on.run("start", "--detach");
    const early = await on.run("store", "migrate", "--to-env", "HERDCTL_STORE");
    expect(early.code).toBe(3);
    expect(early.stderr).toMatch(/the fleet runs[\s\S]*herdctl stop/);
    await on.run("stop");

    const moved = await on.run("store", "migrate", "--to-env", "HERDCTL_STORE");
    expect([moved.code, moved.stderr]).toEqual([0, expect.stringMatching(/✓ jobs {2}1 row\n/)]);
    expect(moved.stdout).toMatch(
      /copied to postgres:\/\/.* and compared[\s\S]*store: \$\{HERDCTL_STORE\}/,
    );
    const again = await on.run("store", "migrate", "--to-env", "HERDCTL_STORE");
    expect([again.code, again.stderr]).toEqual([2, expect.stringContaining("is not empty")]);

    share(on);
    const { jobs } = JSON.parse((await on.run("jobs", "--json")).stdout);
    expect(jobs).toMatchObject([{ id: before.id, session_id: before.session_id }]);
    const alone = await on.run("trigger", "cli", "-p", "hello");
    expect([alone.code, alone.stderr]).toEqual([
      3,
      expect.stringContaining("no node of it runs here"),
    ]);

    const started = await on.run("start", "--detach", "--node-name", "desk", "--labels", "a,b");
    expect(started.code, started.stderr).toBe(0);
    const after = await on.trigger("cli", "--resume", before.id, "-p", "and on");
    expect(after).toMatchObject({ status: "completed", session_id: before.session_id });
    const [desk] = await nodesOf(on);
    expect(desk).toMatchObject({ name: "desk", labels: ["a", "b"], here: true, lead: true });
    expect((await on.run("job", after.id)).stdout).toMatch(/node +desk\n/);

    expect((await on.run("restart")).code).toBe(0);
    expect(await nodesOf(on)).toMatchObject([
      { ...only(desk, "id", "name", "labels"), status: "live" },
    ]);
    await on.run("stop");
    expect(await nodesOf(on)).toMatchObject([{ name: "desk", status: "left" }]);
  },
);

test(
  "what runs on one machine is seen from the other, while its node runs and later",
  long,
  async () => {
    const on = await withStore();
    const builder =
      "  - { name: builder, runtime: cli, runs_on: [builds], default_prompt: hello }\n";
    appendFileSync(join(on.folder, "herdctl.yaml"), builder);
    share(on);
    const other = { ...on, folder: secondMachine(on) };
    const there = { cwd: other.folder, env: on.env };
    stopWhenOver(on);
    stopWhenOver(other);
    expect((await on.run("start", "--detach", "--node-name", "desk")).code).toBe(0);
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
    expect((await herdctl(["start", "--detach", ...rack], there)).code).toBe(0);

    const { stdout } = await on.run("nodes");
    expect(stdout).toMatch(/^desk \(here\) +● live +all, leads +0 of 10 /m);
    expect(stdout).toMatch(/^rack +● live +worker +0 of 2 .* builds$/m);
    const job: Job = await on.trigger("builder");
    const [, second] = await nodesOf(on);
    expect(job).toMatchObject({ status: "completed", node: second?.id });
    const seen = await on.run("job", job.id);
    expect(seen.stdout).toMatch(/node +rack\n/);
    expect(seen.stdout).toContain(`herdctl logs ${job.id}`);
    const logs = (await on.run("logs", job.id, "--json")).stdout;
    expect(logs).toContain('"result"');

    for (const place of [there, { cwd: on.folder, env: on.env }]) await herdctl(["stop"], place);
    expect((await on.run("logs", job.id, "--json")).stdout).toBe(logs);
    const { sessions } = JSON.parse((await on.run("sessions", "--json")).stdout);
    expect(sessions).toMatchObject([{ node: second?.id, obstacle: { short: "other node" } }]);
    const resumed = await on.run("sessions", "resume", job.id);
    expect([resumed.code, resumed.stderr]).toEqual([4, expect.stringContaining("on another node")]);
    const doctor = JSON.parse((await on.run("doctor", "--offline", "--json")).stdout);
    const store = doctor.checks.filter(({ name }: { name: string }) => name.startsWith("store"));
    expect(store).toMatchObject([{ verdict: "ok" }, { verdict: "ok" }]);
  },
);

function secondMachine({ folder }: FleetStage): string {
  const other = folderWith({});
  mkdirSync(other, { recursive: true });
  for (const file of ["herdctl.yaml", ".env"]) copyFileSync(join(folder, file), join(other, file));
  return other;
}

function only<T extends object, K extends keyof T>(from: T | undefined, ...keys: K[]) {
  return Object.fromEntries(keys.map((key) => [key, from?.[key]]));
}

test("where to migrate to is said once, and not with a password on the command line", async () => {
  const on = await fleetStage();
  const refused = async (...args: string[]) => {
    const { code, stderr } = await on.run("store", "migrate", ...args);
    expect(code).toBe(2);
    expect(stderr).not.toContain("made-up-word");
    return stderr;
  };
  expect(await refused()).toContain("say where to");
  expect(await refused("--to", "postgres://db/herd", "--to-env", "X")).toContain("once");
  expect(await refused("--to-env", "NOT_SET")).toContain("NOT_SET is not set");
  expect(await refused("--to", "postgres://a:made-up-word@db/herd")).toContain("command line");
  expect(await refused("--to", "postgres://db/herd")).toContain("no state here");
  await (await new StateManager(join(on.folder, ".herdctl")).open()).close();
  expect(await refused("--to", "mysql://made-up-word/herd")).toContain("address of a PostgreSQL");
  const away = await on.run("store", "migrate", "--to", "postgres://herd@127.0.0.1:1/herd");
  expect([away.code, away.stderr]).toEqual([4, expect.stringContaining("nobody listens")]);
});
