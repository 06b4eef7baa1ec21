import { readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { type CliHarness, startCliHarness, waitUntil } from "../cli/cli-harness.ts";
import { runHerdctl } from "../cli/run-herdctl.ts";
import { bashScript, fleetQueries, stopAfterTest } from "../cli/running-fleet.ts";
import { ensureSystemd, type UserSystemd, userSystemd } from "../support/systemd-user-instance.ts";
import { isWide, wideTest } from "../support/test-subset.ts";

if (isWide) await ensureSystemd();

/** Works until a file exists. */
const waiting = bashScript("until [ -e go ]; do sleep 0.1; done; echo over");

test("leaves its job running when stopped like a service, and the next fleet records its end", async () => {
  const harness = await startCliHarness(waiting);
  stopAfterTest(harness);
  const { withControl, waitUntilRunning } = fleetQueries(harness);
  const first = harness.start("start", "--leave-jobs");
  await waitUntil(() => withControl((fleet) => fleet.status()).catch(() => undefined));
  const job = JSON.parse((await harness.run("trigger", "cli", "-p", "wait", "--json")).stdout);
  await waitUntilRunning(1);
  first.child.kill("SIGTERM");
  expect(await first.exited).toMatchObject({ code: 0 });
  // The second fleet did not start the job, and leaves it running as well.
  const second = harness.start("start", "--leave-jobs");
  await waitUntil(() => waitUntilRunning(1).catch(() => undefined));
  second.child.kill("SIGTERM");
  expect(await second.exited).toMatchObject({ code: 0 });
  harness.start("start", "--leave-jobs");
  await waitForJob(harness, job.id);
});

wideTest(
  "keeps running jobs through a restart by systemd under load",
  async () => {
    const systemd = await userSystemd();
    const harness = await startCliHarness(waiting);
    stopAfterTest(harness);
    const { waitUntilRunning } = fleetQueries(harness);
    const service = serviceCommands(harness, systemd);

    const installed = await service("install");
    expect(installed).toMatchObject({ name: "herdctl-test", changed: true });
    expect(installed.variables).toContain("ANTHROPIC_API_KEY");
    const { file } = await service("status");
    expect(readFileSync(file, "utf8")).not.toContain(harness.env.ANTHROPIC_API_KEY);
    const environment = join(harness.folder, ".herdctl/service.env");
    expect(statSync(environment).mode & 0o777).toBe(0o600);
    // A second install changes nothing.
    expect(await service("install")).toMatchObject({ pid: installed.pid, changed: false });

    const job = JSON.parse((await harness.run("trigger", "cli", "-p", "wait", "--json")).stdout);
    await waitUntilRunning(1);
    const again = await runHerdctl(["restart", "--json"], {
      cwd: harness.folder,
      env: { ...harness.env, ...systemd.env },
    });
    expect(JSON.parse(again.stdout)).toMatchObject({ service: "herdctl-test" });
    expect(JSON.parse(again.stdout).pid).not.toBe(installed.pid);
    await systemd.systemctl("restart", "herdctl-test");
    const restarted = await waitUntil(async () => {
      const state = await service("status");
      return state.running && state.pid !== installed.pid ? state : undefined;
    });
    process.kill(Number(restarted.pid), "SIGKILL");
    await waitUntil(async () => {
      const { running, pid } = await service("status");
      return running && pid !== restarted.pid;
    });
    await waitForJob(harness, job.id);

    expect(await service("uninstall")).toMatchObject({ removed: true });
    expect(() => statSync(file)).toThrow("ENOENT");
    expect(() => statSync(environment)).toThrow("ENOENT");
    expect(await harness.run("status")).toMatchObject({ code: 3 });
    expect(await service("uninstall")).toMatchObject({ removed: false });
  },
  120_000,
);

/** The job takes one attempt: the model receives two requests, before and after the tool. */
async function waitForJob(harness: CliHarness, id: string): Promise<void> {
  const { withControl, job, waitForJob } = fleetQueries(harness);
  await waitUntil(() => withControl((fleet) => fleet.status()).catch(() => undefined));
  expect(await job(id)).toMatchObject({ status: "running", attempts: 1 });
  writeFileSync(join(harness.workspace, "go"), "");
  expect(await waitForJob(id)).toMatchObject({ outcome: { code: "success" }, attempts: 1 });
  expect(harness.rehearsal.ledger.main).toHaveLength(2);
}

function serviceCommands(harness: CliHarness, { env }: UserSystemd) {
  return async (what: string) => {
    const run = await runHerdctl(["service", what, "--json"], {
      cwd: harness.folder,
      env: { ...harness.env, ...env },
    });
    return JSON.parse(run.stdout);
  };
}
