import type { FleetManager } from "@herdctl/core/internal";
import { expect, test } from "vitest";
import { waitUntil } from "../support/fleet-child-process.ts";
import { startHarness } from "../support/harness.ts";
import { startFleetInProcess, writeFleetFile } from "../support/in-process-fleet.ts";

const greetingScript = { script: { rules: [{ reply: "Noted." }] } };
const farFuture = "2099-01-01T00:00";

async function sessionOf(fleet: FleetManager, schedule?: string): Promise<string> {
  const request = { agent: "one", schedule };
  const prompt = schedule === undefined ? { prompt: "by hand" } : {};
  const { job } = await fleet.jobs.trigger({ ...request, ...prompt });
  const ended = await fleet.jobs.wait(job.id);
  expect(ended.status).toBe("completed");
  return ended.session_id ?? "";
}

test("gives a schedule with `resume_session: true` of a fresh agent a separate session, across restarts", async () => {
  const harness = await startHarness(greetingScript);
  const agent = `  - name: one
    runtime: cli
    schedules:
      diary: { type: at, at: "${farFuture}", resume_session: true, prompt: Dear diary }
      other: { type: at, at: "${farFuture}", resume_session: true, prompt: Something else }
      plain: { type: at, at: "${farFuture}", prompt: Once }`;
  const file = writeFleetFile(harness, agent);
  const fleet = await startFleetInProcess(harness, file);
  const diary = await sessionOf(fleet, "diary");
  const byHand = await sessionOf(fleet);
  const [other, plain] = [await sessionOf(fleet, "other"), await sessionOf(fleet, "plain")];
  expect(new Set([diary, byHand, other, plain]).size).toBe(4);
  await fleet.shutdown({ drainMs: 0 });

  const next = await startFleetInProcess(harness, file);
  expect(await sessionOf(next, "diary")).toBe(diary);
  const words = JSON.stringify(harness.rehearsal.ledger.main.at(-1)?.body);
  expect(words.split("Dear diary")).toHaveLength(3);
  expect(words).not.toContain("Something else");
  expect(await sessionOf(next, "other")).toBe(other);
  expect(await sessionOf(next, "plain")).not.toBe(plain);
});

test("keeps a schedule with `resume_session: false` out of a persistent agent's session", async () => {
  const harness = await startHarness(greetingScript);
  const agent = `  - name: one
    runtime: cli
    session: { mode: persistent }
    schedules:
      aside: { type: at, at: "${farFuture}", resume_session: false, prompt: Between us }
      usual: { type: at, at: "${farFuture}", resume_session: true, prompt: As ever }`;
  const fleet = await startFleetInProcess(harness, writeFleetFile(harness, agent));
  const first = await sessionOf(fleet);
  const [aside, again] = [await sessionOf(fleet, "aside"), await sessionOf(fleet, "aside")];
  expect(new Set([first, aside, again]).size).toBe(3);
  expect(await sessionOf(fleet)).toBe(first);
  expect(await sessionOf(fleet, "usual")).toBe(first);
});

test("resumes it in runs that the clock starts as well", async () => {
  const harness = await startHarness(greetingScript);
  const agent = `  - name: one
    runtime: cli
    schedules:
      diary: { type: interval, every: 200ms, resume_session: true, prompt: Dear diary }`;
  const fleet = await startFleetInProcess(harness, writeFleetFile(harness, agent));
  const jobs = await waitUntil("three runs", async () => {
    const page = await fleet.jobs.list({ limit: 10, status: "completed" });
    return page.jobs.length >= 3 && page.jobs;
  });
  expect(new Set(jobs.map(({ session_id }) => session_id)).size).toBe(1);
});
