import { readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { type FleetStage, fleetStage, until } from "../cli/fleet-stage.ts";
import { questions, stopWhenOver, working } from "../cli/fleet-stage-running.ts";
import { herdctl } from "../cli/herdctl.ts";
import { systemdIsThere, type UserSystemd, userSystemd } from "../support/user-systemd.ts";
import { isWide, wideTest } from "../support/width.ts";

if (isWide) await systemdIsThere();

/** Work that goes on until a file is there. */
const waiting = working("until [ -e go ]; do sleep 0.1; done; echo over");

test("told to stop as a service is, a fleet leaves its job, and the next one records its end", async () => {
  const on = await fleetStage(waiting);
  stopWhenOver(on);
  const { ask, untilRunning } = questions(on);
  const first = on.start("start", "--leave-jobs");
  await until(() => ask((fleet) => fleet.status()).catch(() => undefined));
  const job = JSON.parse((await on.run("trigger", "cli", "-p", "wait", "--json")).stdout);
  await untilRunning(1);
  first.child.kill("SIGTERM");
  expect(await first.ended).toMatchObject({ code: 0 });
  // The second one did not start it, and leaves it as well.
  const second = on.start("start", "--leave-jobs");
  await until(() => untilRunning(1).catch(() => undefined));
  second.child.kill("SIGTERM");
  expect(await second.ended).toMatchObject({ code: 0 });
  on.start("start", "--leave-jobs");
  await untilDone(on, job.id);
});

wideTest(
  "systemd restarts a fleet under load, and no job notices",
  async () => {
    const systemd = await userSystemd();
    const on = await fleetStage(waiting);
    stopWhenOver(on);
    const { untilRunning } = questions(on);
    const service = serviceOf(on, systemd);

    const installed = await service("install");
    expect(installed).toMatchObject({ name: "herdctl-test", changed: true });
    expect(installed.variables).toContain("ANTHROPIC_API_KEY");
    const { file } = await service("status");
    expect(readFileSync(file, "utf8")).not.toContain(on.env.ANTHROPIC_API_KEY);
    const environment = join(on.folder, ".herdctl/service.env");
    expect(statSync(environment).mode & 0o777).toBe(0o600);
    // Again, and nothing changes.
    expect(await service("install")).toMatchObject({ pid: installed.pid, changed: false });

    const job = JSON.parse((await on.run("trigger", "cli", "-p", "wait", "--json")).stdout);
    await untilRunning(1);
    const again = await herdctl(["restart", "--json"], {
      cwd: on.folder,
      env: { ...on.env, ...systemd.env },
    });
    expect(JSON.parse(again.stdout)).toMatchObject({ service: "herdctl-test" });
    expect(JSON.parse(again.stdout).pid).not.toBe(installed.pid);
    await systemd.systemctl("restart", "herdctl-test");
    const restarted = await until(async () => {
      const state = await service("status");
      return state.running && state.pid !== installed.pid ? state : undefined;
    });
    process.kill(Number(restarted.pid), "SIGKILL");
    await until(async () => {
      const { running, pid } = await service("status");
      return running && pid !== restarted.pid;
    });
    await untilDone(on, job.id);

    expect(await service("uninstall")).toMatchObject({ removed: true });
    expect(() => statSync(file)).toThrow("ENOENT");
    expect(() => statSync(environment)).toThrow("ENOENT");
    expect(await on.run("status")).toMatchObject({ code: 3 });
    expect(await service("uninstall")).toMatchObject({ removed: false });
  },
  120_000,
);

/** In one attempt: the model was asked twice, before the tool and after it. */
async function untilDone(on: FleetStage, id: string): Promise<void> {
  const { ask, job, ended } = questions(on);
  await until(() => ask((fleet) => fleet.status()).catch(() => undefined));
  expect(await job(id)).toMatchObject({ status: "running", attempts: 1 });
  writeFileSync(join(on.workspace, "go"), "");
  expect(await ended(id)).toMatchObject({ outcome: { code: "success" }, attempts: 1 });
  expect(on.rehearsal.ledger.main).toHaveLength(2);
}

function serviceOf(on: FleetStage, { env }: UserSystemd) {
  return async (what: string) => {
    const run = await herdctl(["service", what, "--json"], {
      cwd: on.folder,
      env: { ...on.env, ...env },
    });
    return JSON.parse(run.stdout);
  };
}
