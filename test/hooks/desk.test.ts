import { existsSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { until } from "../support/fleet-program.ts";
import { processesWith } from "../support/processes.ts";
import { deskStage } from "./desk-stage.ts";

const read = (folder: string, name: string) => readFileSync(join(folder, name), "utf8");

describe("a shell hook", () => {
  test("runs in the fleet's folder with the job on its standard input and little else", async () => {
    const on = await deskStage(
      'after_run: [{ type: shell, command: "cat > told.json; env > env.txt; pwd > pwd.txt", env: { MINE: yes } }]',
      { PATH: process.env.PATH, HOME: "/home/x", SECRET_TOKEN: "hunter22", ANTHROPIC_API_KEY: "k" },
    );
    on.desk.start();
    const job = await on.ended({ metadata: { price: 7 } });
    on.desk.kick();
    const [run] = await on.settled(job);
    expect(run).toMatchObject({
      attempts: 1,
      message: "exit 0",
      type: "shell",
      event: "after_run",
    });

    const told = JSON.parse(read(on.folder, "told.json"));
    expect(told).toMatchObject({ type: "job.finished", fleet: "my-fleet", hook: { id: run?.id } });
    expect(told.job).toMatchObject({ id: job.id, cost_usd: 0.25, metadata: { price: 7 } });
    const env = read(on.folder, "env.txt");
    for (const line of [`HERDCTL_JOB=${job.id}`, "HERDCTL_AGENT=one", "HERDCTL_OUTCOME=success"]) {
      expect(env).toContain(`${line}\n`);
    }
    expect(env).toContain("MINE=yes\n");
    expect(env).not.toMatch(/hunter22|ANTHROPIC/);
    expect(read(on.folder, "pwd.txt").trim()).toBe(realpathSync(on.folder));
  });

  test("that takes too long is ended with all that it started", async () => {
    const on = await deskStage(`after_run:
  - type: shell
    command: "(setsid sleep 300 &) ; sleep 300 & echo begun; touch begun; wait"
    timeout: 500ms
    retry: { max_attempts: 1 }`);
    on.desk.start();
    const job = await on.ended();
    on.desk.kick();
    const [run] = await on.settled(job, "failed");
    expect(run).toMatchObject({ message: "it took longer than 0.5 s", attempts: 1 });
    expect(existsSync(join(on.folder, "begun"))).toBe(true);
    expect(processesWith(run?.id ?? "?")).toEqual([]);
  });

  test("leaves nothing behind when it ends by itself, and need not read what it is told", async () => {
    const on = await deskStage(
      'after_run: [{ type: shell, command: "sleep 300 & exec 0<&-; exit 0" }]',
    );
    on.desk.start();
    const job = await on.ended({ metadata: { big: "x".repeat(500_000) } });
    on.desk.kick();
    const [run] = await on.settled(job);
    expect(processesWith(run?.id ?? "?")).toEqual([]);
  });

  test("that says much is kept with the end of it", async () => {
    const on = await deskStage(
      "after_run: [{ type: shell, command: \"head -c 3000000 /dev/zero | tr '\\\\0' x; echo; echo the end\" }]",
    );
    on.desk.start();
    const job = await on.ended();
    on.desk.kick();
    const [run] = await on.settled(job);
    expect(run?.output?.length).toBeLessThan(20_000);
    expect(run?.output).toMatch(/^…x.*\nthe end$/s);
  });
});

describe("a hook that fails", () => {
  test("is tried again until it succeeds, and the job stays what it was", async () => {
    const on = await deskStage(`after_run:
  - type: shell
    command: "echo x >> tries; [ $(wc -l < tries) = 3 ]"
    retry: { max_attempts: 5, backoff: 20ms }`);
    on.desk.start();
    const job = await on.ended();
    on.desk.kick();
    const [run] = await on.settled(job);
    expect(run).toMatchObject({ attempts: 3, message: "exit 0" });
    expect(await on.state.jobs.get(job.id)).toEqual(job);
  });

  test("is given up in the end, holds up no other, and can be tried again by hand", async () => {
    const on = await deskStage(`after_run:
  - { type: shell, command: "test -e fixed", retry: { max_attempts: 2, backoff: 20ms } }
on_error:
  - { type: shell, command: "touch told" }`);
    on.desk.start();
    const job = await on.ended({ status: "failed" });
    on.desk.kick();
    const failed = await until("the first to be given up", async () =>
      (await on.hooksOf(job)).find((run) => run.status === "failed"),
    );
    expect(failed).toMatchObject({ attempts: 2, message: "exit 1", event: "after_run" });
    expect(existsSync(join(on.folder, "told"))).toBe(true);

    writeFileSync(join(on.folder, "fixed"), "");
    await on.state.hooks.retry(failed.id);
    on.desk.kick();
    const runs = await on.settled(job);
    expect(runs[0]).toMatchObject({ attempts: 3 });
    await expect(on.state.hooks.retry(failed.id)).rejects.toThrow("has not failed");
  });
});

describe("nothing is lost", () => {
  test("the end of a job and its hooks are one record: a desk that comes later runs them, once", async () => {
    const on = await deskStage('after_run: [{ type: shell, command: "echo x >> ran" }]');
    const job = await on.ended();
    expect(await on.state.hooks.undecided()).toEqual([job.id]);
    on.desk.start();
    await on.settled(job);
    await on.desk.stop(5_000);
    on.nextDesk().start();
    const second = await on.ended({ status: "failed" });
    await on.nextDesk().start();
    await on.settled(second);
    expect(read(on.folder, "ran")).toBe("x\nx\n");
    expect(await on.state.hooks.undecided()).toEqual([]);
    expect(await on.hooksOf(job)).toHaveLength(1);
  });

  test("a hook that is cut off by a stop is tried again by the next desk", async () => {
    const on = await deskStage(`after_run:
  - type: shell
    command: "echo x >> began; while [ ! -e go ]; do sleep 0.05; done"
    retry: { backoff: 20ms }`);
    on.desk.start();
    const job = await on.ended();
    on.desk.kick();
    await until("the hook to begin", async () => existsSync(join(on.folder, "began")));
    await on.desk.stop(0);
    const [cut] = await on.hooksOf(job);
    expect(cut).toMatchObject({ status: "due", attempts: 1, message: "the fleet was stopped" });
    expect(processesWith(cut?.id ?? "?")).toEqual([]);

    writeFileSync(join(on.folder, "go"), "");
    on.nextDesk().start();
    const [run] = await on.settled(job);
    expect(run).toMatchObject({ attempts: 2 });
  });

  test("a hook that may run once only is not tried again when it was cut off", async () => {
    const on = await deskStage(
      'after_run: [{ type: shell, command: "sleep 300", retry: { max_attempts: 1 } }]',
    );
    on.desk.start();
    const job = await on.ended();
    on.desk.kick();
    await until("it to begin", async () => (await on.hooksOf(job))[0]?.status === "running");
    await on.desk.stop(0);
    expect((await on.hooksOf(job))[0]).toMatchObject({ status: "failed", attempts: 1 });
  });

  test("a hook that is no longer configured is given up", async () => {
    const on = await deskStage('after_run: [{ type: shell, command: "true" }]');
    const job = await on.ended();
    const called = {
      agent: "one",
      event: "after_run" as const,
      position: 0,
      type: "shell" as const,
      print: "of another",
    };
    await on.state.hooks.decide(new Map([[job.id, [called]]]));
    on.desk.start();
    const [run] = await on.settled(job, "failed");
    expect(run?.message).toContain("no longer in the configuration");
  });

  test("many jobs at once: each hook once", async () => {
    const on = await deskStage('after_run: [{ type: shell, command: "echo $HERDCTL_JOB >> ran" }]');
    on.desk.start();
    const jobs = await Promise.all(Array.from({ length: 30 }, () => on.ended()));
    for (const _ of jobs) on.desk.kick();
    for (const job of jobs) await on.settled(job);
    expect(read(on.folder, "ran").trim().split("\n").sort()).toEqual(
      jobs.map(({ id }) => id).sort(),
    );
  });
});
