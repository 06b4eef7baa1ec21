import { dirname, join } from "node:path";
import { StateManager } from "@herdctl/core";
import { expect, test } from "vitest";
import { currentProcess } from "../../packages/core/src/state/process-identity.ts";
import { fleetFile, startFleet } from "../support/fleet-process.ts";
import { until } from "../support/fleet-program.ts";
import { stage } from "../support/stage.ts";

const manual = { trigger: "manual" as const, agent: "one" };
const hi = { script: { rules: [{ reply: "Good morning." }] } };

/** Somebody else writes to a session until told to let go. */
async function occupy(file: string, sessionId: string): Promise<() => Promise<unknown>> {
  const state = await new StateManager(join(dirname(file), ".herdctl")).open();
  const holder = { ...currentProcess(), job_id: "job-of-somebody-else" };
  await state.sessions.lease(sessionId, holder, new Date(Date.now() + 60_000));
  return async () => {
    await state.sessions.release(sessionId, holder);
    await state.close();
  };
}

test("a session in use is waited for, then tried again with a pause; freed, the job goes on in it", async () => {
  const on = await stage(hi);
  const retry = "retry: { max_attempts: 3, backoff: 500ms }";
  const agent = `  - { name: one, runtime: cli, timeouts: { wall: 6s }, ${retry} }`;
  const file = fleetFile(on, agent);
  const fleet = await startFleet(on, file);
  const first = await fleet.wait((await fleet.trigger({ ...manual, prompt: "hello" })).job.id);
  const letGo = await occupy(file, first.session_id ?? "");

  const { job } = await fleet.trigger({ ...manual, prompt: "again", resume: first.id });
  const waiting = await until("it to wait", async () => {
    const found = (await fleet.job(job.id))?.job;
    return found?.status === "waiting" && found;
  });
  expect(waiting).toMatchObject({ attempts: 1, outcome: { code: "session_busy" } });
  await letGo();
  expect(await fleet.wait(job.id)).toMatchObject({
    status: "completed",
    attempts: 2,
    session_id: first.session_id,
  });
  expect(on.rehearsal.ledger.main.map(({ prompt }) => prompt)).toEqual(["hello", "again"]);
});

test("it is not tried for ever", async () => {
  const on = await stage(hi);
  const retry = "retry: { max_attempts: 2, backoff: 100ms }";
  const hasty = `  - { name: two, runtime: cli, timeouts: { wall: 200ms }, ${retry} }`;
  const file = fleetFile(on, `  - { name: one, runtime: cli }\n${hasty}`);
  const fleet = await startFleet(on, file);
  const first = await fleet.wait((await fleet.trigger({ ...manual, prompt: "hello" })).job.id);
  const letGo = await occupy(file, first.session_id ?? "");
  const again = { ...manual, agent: "two", prompt: "again", resume: first.id };
  const { job } = await fleet.trigger(again);
  const ended = await fleet.wait(job.id);
  await letGo();
  expect(ended).toMatchObject({ status: "failed", outcome: { code: "session_busy" } });
});
