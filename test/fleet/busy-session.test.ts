import { dirname, join } from "node:path";
import { StateManager } from "@herdctl/core/internal";
import { expect, test } from "vitest";
import { currentProcess } from "../../packages/core/src/lib/process-identity.ts";
import { waitUntil } from "../support/fleet-child-process.ts";
import { startHarness } from "../support/harness.ts";
import { startFleetInProcess, writeFleetFile } from "../support/in-process-fleet.ts";

const manualTrigger = { agent: "one" };
const greetingScript = { script: { rules: [{ reply: "Good morning." }] } };

/** Holds the lease of a session as another writer until released. */
async function occupySession(file: string, sessionId: string): Promise<() => Promise<unknown>> {
  const state = await new StateManager(join(dirname(file), ".herdctl")).open();
  const holder = { ...currentProcess(), job_id: "job-of-somebody-else" };
  await state.sessions.lease(sessionId, holder, new Date(Date.now() + 60_000));
  return async () => {
    await state.sessions.release(sessionId, holder);
    await state.close();
  };
}

test("waits for a session in use, retries with a pause, and continues the job once it is free", async () => {
  const harness = await startHarness(greetingScript);
  const retry = "retry: { max_attempts: 3, backoff: 500ms }";
  const agent = `  - { name: one, runtime: cli, timeouts: { total: 6s }, ${retry} }`;
  const file = writeFleetFile(harness, agent);
  const fleet = await startFleetInProcess(harness, file);
  const first = await fleet.jobs.wait(
    (await fleet.jobs.trigger({ ...manualTrigger, prompt: "hello" })).job.id,
  );
  const releaseSession = await occupySession(file, first.session_id ?? "");

  const { job } = await fleet.jobs.trigger({ ...manualTrigger, prompt: "again", resume: first.id });
  const waiting = await waitUntil("it to wait", async () => {
    const found = (await fleet.jobs.get(job.id))?.job;
    return found?.status === "waiting" && found;
  });
  expect(waiting).toMatchObject({ attempts: 1, outcome: { code: "session_busy" } });
  await releaseSession();
  expect(await fleet.jobs.wait(job.id)).toMatchObject({
    status: "completed",
    attempts: 2,
    session_id: first.session_id,
  });
  expect(harness.rehearsal.ledger.main.map(({ prompt }) => prompt)).toEqual(["hello", "again"]);
});

test("stops retrying after a time", async () => {
  const harness = await startHarness(greetingScript);
  const retry = "retry: { max_attempts: 2, backoff: 100ms }";
  const hasty = `  - { name: two, runtime: cli, timeouts: { total: 200ms }, ${retry} }`;
  const file = writeFleetFile(harness, `  - { name: one, runtime: cli }\n${hasty}`);
  const fleet = await startFleetInProcess(harness, file);
  const first = await fleet.jobs.wait(
    (await fleet.jobs.trigger({ ...manualTrigger, prompt: "hello" })).job.id,
  );
  const releaseSession = await occupySession(file, first.session_id ?? "");
  const again = { ...manualTrigger, agent: "two", prompt: "again", resume: first.id };
  const { job } = await fleet.jobs.trigger(again);
  const ended = await fleet.jobs.wait(job.id);
  await releaseSession();
  expect(ended).toMatchObject({ status: "failed", outcome: { code: "session_busy" } });
});
