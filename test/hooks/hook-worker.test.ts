import { existsSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { waitUntil } from "../support/fleet-child-process.ts";
import { processesWithMarker } from "../support/processes-with-marker.ts";
import { startHookWorkerHarness } from "./hook-worker-harness.ts";
import { startReceiver } from "./http-receiver.ts";

const read = (folder: string, name: string) => readFileSync(join(folder, name), "utf8");

describe("a shell hook", () => {
  test("runs a shell hook in the fleet's folder with the job on standard input and a minimal environment", async () => {
    const harness = await startHookWorkerHarness(
      'after_run: [{ type: shell, command: "cat > told.json; env > env.txt; pwd > pwd.txt", env: { MINE: yes } }]',
      { PATH: process.env.PATH, HOME: "/home/x", SECRET_TOKEN: "hunter22", ANTHROPIC_API_KEY: "k" },
    );
    harness.worker.start();
    const job = await harness.createEndedJob({ metadata: { price: 7 } });
    harness.worker.wake();
    const [run] = await harness.waitUntilSettled(job);
    expect(run).toMatchObject({
      attempts: 1,
      message: "exit 0",
      type: "shell",
      event: "after_run",
    });

    const payload = JSON.parse(read(harness.folder, "told.json"));
    expect(payload).toMatchObject({
      type: "job.finished",
      fleet: "my-fleet",
      hook: { id: run?.id },
    });
    expect(payload.job).toMatchObject({ id: job.id, cost_usd: 0.25, metadata: { price: 7 } });
    const env = read(harness.folder, "env.txt");
    for (const line of [`HERDCTL_JOB=${job.id}`, "HERDCTL_AGENT=one", "HERDCTL_OUTCOME=success"]) {
      expect(env).toContain(`${line}\n`);
    }
    expect(env).toContain("MINE=yes\n");
    expect(env).not.toMatch(/hunter22|ANTHROPIC/);
    expect(read(harness.folder, "pwd.txt").trim()).toBe(realpathSync(harness.folder));
  });

  test("ends a slow hook with all its processes", async () => {
    const harness = await startHookWorkerHarness(`after_run:
  - type: shell
    command: "(setsid sleep 300 &) ; sleep 300 & echo begun; touch begun; wait"
    timeout: 500ms
    retry: { max_attempts: 1 }`);
    harness.worker.start();
    const job = await harness.createEndedJob();
    harness.worker.wake();
    const [run] = await harness.waitUntilSettled(job, "failed");
    expect(run).toMatchObject({ message: "it took longer than 0.5 s", attempts: 1 });
    expect(existsSync(join(harness.folder, "begun"))).toBe(true);
    expect(processesWithMarker(run?.id ?? "?")).toEqual([]);
  });

  test("leaves nothing behind after a hook that ends without reading its input", async () => {
    const harness = await startHookWorkerHarness(
      'after_run: [{ type: shell, command: "sleep 300 & exec 0<&-; exit 0" }]',
    );
    harness.worker.start();
    const job = await harness.createEndedJob({ metadata: { big: "x".repeat(500_000) } });
    harness.worker.wake();
    const [run] = await harness.waitUntilSettled(job);
    expect(processesWithMarker(run?.id ?? "?")).toEqual([]);
  });

  test("keeps the end of a long output", async () => {
    const harness = await startHookWorkerHarness(
      "after_run: [{ type: shell, command: \"head -c 3000000 /dev/zero | tr '\\\\0' x; echo; echo the end\" }]",
    );
    harness.worker.start();
    const job = await harness.createEndedJob();
    harness.worker.wake();
    const [run] = await harness.waitUntilSettled(job);
    expect(run?.output?.length).toBeLessThan(20_000);
    expect(run?.output).toMatch(/^…x.*\nthe end$/s);
  });
});

describe("a failing hook", () => {
  test("retries a failing hook until it succeeds, without changing the job", async () => {
    const harness = await startHookWorkerHarness(`after_run:
  - type: shell
    command: "echo x >> tries; [ $(wc -l < tries) = 3 ]"
    retry: { max_attempts: 5, backoff: 20ms }`);
    harness.worker.start();
    const job = await harness.createEndedJob();
    harness.worker.wake();
    const [run] = await harness.waitUntilSettled(job);
    expect(run).toMatchObject({ attempts: 3, message: "exit 0" });
    expect(await harness.state.jobs.get(job.id)).toEqual(job);
  });

  test("gives up a failing hook in the end, blocks no other hook, and lets it be retried by hand", async () => {
    const harness = await startHookWorkerHarness(`after_run:
  - { type: shell, command: "test -e fixed", retry: { max_attempts: 2, backoff: 20ms } }
on_error:
  - { type: shell, command: "touch told" }`);
    harness.worker.start();
    const job = await harness.createEndedJob({ status: "failed" });
    harness.worker.wake();
    const failed = await waitUntil("the first to be given up", async () =>
      (await harness.hooksOf(job)).find((run) => run.status === "failed"),
    );
    expect(failed).toMatchObject({ attempts: 2, message: "exit 1", event: "after_run" });
    expect(existsSync(join(harness.folder, "told"))).toBe(true);

    writeFileSync(join(harness.folder, "fixed"), "");
    await harness.state.hooks.retry(failed.id);
    harness.worker.wake();
    const runs = await harness.waitUntilSettled(job);
    expect(runs[0]).toMatchObject({ attempts: 3 });
    await expect(harness.state.hooks.retry(failed.id)).rejects.toThrow("has not failed");
  });
});

describe("durability of hooks", () => {
  test("records the end of a job and its hooks together, so that a later worker runs them once", async () => {
    const harness = await startHookWorkerHarness(
      'after_run: [{ type: shell, command: "echo x >> ran" }]',
    );
    const job = await harness.createEndedJob();
    expect(await harness.state.hooks.listUndecidedJobs()).toEqual([job.id]);
    harness.worker.start();
    await harness.waitUntilSettled(job);
    await harness.worker.stop(5_000);
    harness.nextWorker().start();
    const second = await harness.createEndedJob({ status: "failed" });
    await harness.nextWorker().start();
    await harness.waitUntilSettled(second);
    expect(read(harness.folder, "ran")).toBe("x\nx\n");
    expect(await harness.state.hooks.listUndecidedJobs()).toEqual([]);
    expect(await harness.hooksOf(job)).toHaveLength(1);
  });

  test("retries a hook in the next worker after a stop interrupted it", async () => {
    const harness = await startHookWorkerHarness(`after_run:
  - type: shell
    command: "echo x >> began; while [ ! -e go ]; do sleep 0.05; done"
    retry: { backoff: 20ms }`);
    harness.worker.start();
    const job = await harness.createEndedJob();
    harness.worker.wake();
    await waitUntil("the hook to start", async () => existsSync(join(harness.folder, "began")));
    await harness.worker.stop(0);
    const [cut] = await harness.hooksOf(job);
    expect(cut).toMatchObject({ status: "due", attempts: 1, message: "the fleet was stopped" });
    expect(processesWithMarker(cut?.id ?? "?")).toEqual([]);

    writeFileSync(join(harness.folder, "go"), "");
    harness.nextWorker().start();
    const [run] = await harness.waitUntilSettled(job);
    expect(run).toMatchObject({ attempts: 2 });
  });

  test("does not retry an interrupted hook that may run only once", async () => {
    const harness = await startHookWorkerHarness(
      'after_run: [{ type: shell, command: "sleep 300", retry: { max_attempts: 1 } }]',
    );
    harness.worker.start();
    const job = await harness.createEndedJob();
    harness.worker.wake();
    await waitUntil(
      "it to start",
      async () => (await harness.hooksOf(job))[0]?.status === "running",
    );
    await harness.worker.stop(0);
    expect((await harness.hooksOf(job))[0]).toMatchObject({ status: "failed", attempts: 1 });
  });

  test("gives up a hook that is no longer configured", async () => {
    const harness = await startHookWorkerHarness('after_run: [{ type: shell, command: "true" }]');
    const job = await harness.createEndedJob();
    const called = {
      agent: "one",
      event: "after_run" as const,
      cause: null,
      position: 0,
      type: "shell" as const,
      config_hash: "of another",
    };
    await harness.state.hooks.enqueue(new Map([[job.id, [called]]]));
    harness.worker.start();
    const [run] = await harness.waitUntilSettled(job, "failed");
    expect(run?.message).toContain("no longer in the configuration");
  });

  test("runs each hook of many concurrent jobs once", async () => {
    const harness = await startHookWorkerHarness(
      'after_run: [{ type: shell, command: "echo $HERDCTL_JOB >> ran" }]',
    );
    harness.worker.start();
    const jobs = await Promise.all(Array.from({ length: 30 }, () => harness.createEndedJob()));
    for (const _ of jobs) harness.worker.wake();
    for (const job of jobs) await harness.waitUntilSettled(job);
    expect(read(harness.folder, "ran").trim().split("\n").sort()).toEqual(
      jobs.map(({ id }) => id).sort(),
    );
  });
});

describe("a hook that posts", () => {
  const environment = { BOT: "a-token", PATH: process.env.PATH };

  test.each([
    ["discord", "/v10/channels/42/messages", "Bot a-token", "{}"],
    ["slack", "/chat.postMessage", "Bearer a-token", '{"ok":true}'],
  ])("posts to a channel of %s as a bot", async (type, path, authorization, answer) => {
    const receiver = await startReceiver((response) => response.end(answer));
    const hook = `{ type: ${type}, channel_id: "42", token_env: BOT, base_url: "${new URL(receiver.url).origin}", allow_private: true }`;
    const harness = await startHookWorkerHarness(`after_run: [${hook}]`, environment);
    harness.worker.start();
    const job = await harness.createEndedJob();
    harness.worker.wake();
    await harness.waitUntilSettled(job);
    expect(receiver.received).toMatchObject([{ path, headers: { authorization } }]);
    expect(receiver.received[0]?.body).toContain(job.id);
  });

  test("reports a message that Slack refuses with status 200", async () => {
    const receiver = await startReceiver((response) =>
      response.end('{"ok":false,"error":"channel_not_found"}'),
    );
    const hook = `{ type: slack, channel_id: "42", token_env: BOT, base_url: "${new URL(receiver.url).origin}", allow_private: true }`;
    const harness = await startHookWorkerHarness(`after_run: [${hook}]`, environment);
    harness.worker.start();
    const job = await harness.createEndedJob();
    harness.worker.wake();
    const [run] = await harness.waitUntilSettled(job, "failed");
    expect(run).toMatchObject({
      attempts: 1,
      message: "Slack refused the message: channel_not_found",
    });
  });

  test("fails without an attempt to post if the bot's token is not set", async () => {
    const receiver = await startReceiver((response) => response.end());
    const hook = `{ type: discord, channel_id: "42", token_env: NONE, base_url: "${new URL(receiver.url).origin}", allow_private: true }`;
    const harness = await startHookWorkerHarness(`after_run: [${hook}]`, environment);
    harness.worker.start();
    const job = await harness.createEndedJob();
    harness.worker.wake();
    const [run] = await harness.waitUntilSettled(job, "failed");
    expect(run?.message).toContain("NONE is not set");
    expect(receiver.received).toEqual([]);
  });

  test("sends the headers of a webhook", async () => {
    const receiver = await startReceiver((response) => response.end());
    const hook = `{ type: webhook, url: "${receiver.url}", headers: { Authorization: "Bearer x" }, allow_private: true }`;
    const harness = await startHookWorkerHarness(`after_run: [${hook}]`, environment);
    harness.worker.start();
    const job = await harness.createEndedJob();
    harness.worker.wake();
    await harness.waitUntilSettled(job);
    expect(receiver.received[0]?.headers.authorization).toBe("Bearer x");
  });
});
