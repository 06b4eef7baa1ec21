import type { FleetManager } from "@herdctl/core";
import { expect, test } from "vitest";
import { fleetFile, startFleet } from "../support/fleet-process.ts";
import { until } from "../support/fleet-program.ts";
import { stage } from "../support/stage.ts";

const hi = { script: { rules: [{ reply: "Noted." }] } };
const never = "2099-01-01T00:00";

async function sessionOf(fleet: FleetManager, schedule?: string): Promise<string> {
  const request = { trigger: "manual" as const, agent: "one", schedule };
  const prompt = schedule === undefined ? { prompt: "by hand" } : {};
  const { job } = await fleet.trigger({ ...request, ...prompt });
  const ended = await fleet.wait(job.id);
  expect(ended.status).toBe("completed");
  return ended.session_id ?? "";
}

test("`resume_session: true` gives a schedule of a fresh agent a session of its own, over restarts", async () => {
  const on = await stage(hi);
  const agent = `  - name: one
    runtime: cli
    schedules:
      diary: { type: at, at: "${never}", resume_session: true, prompt: Dear diary }
      other: { type: at, at: "${never}", resume_session: true, prompt: Something else }
      plain: { type: at, at: "${never}", prompt: Once }`;
  const file = fleetFile(on, agent);
  const fleet = await startFleet(on, file);
  const diary = await sessionOf(fleet, "diary");
  const byHand = await sessionOf(fleet);
  const [other, plain] = [await sessionOf(fleet, "other"), await sessionOf(fleet, "plain")];
  expect(new Set([diary, byHand, other, plain]).size).toBe(4);
  await fleet.stop({ drainMs: 0 });

  const next = await startFleet(on, file);
  expect(await sessionOf(next, "diary")).toBe(diary);
  const words = JSON.stringify(on.rehearsal.ledger.main.at(-1)?.body);
  expect(words.split("Dear diary")).toHaveLength(3);
  expect(words).not.toContain("Something else");
  expect(await sessionOf(next, "other")).toBe(other);
  expect(await sessionOf(next, "plain")).not.toBe(plain);
});

test("`resume_session: false` keeps a schedule out of what a persistent agent goes on with", async () => {
  const on = await stage(hi);
  const agent = `  - name: one
    runtime: cli
    session: { mode: persistent }
    schedules:
      aside: { type: at, at: "${never}", resume_session: false, prompt: Between us }
      usual: { type: at, at: "${never}", resume_session: true, prompt: As ever }`;
  const fleet = await startFleet(on, fleetFile(on, agent));
  const first = await sessionOf(fleet);
  const [aside, again] = [await sessionOf(fleet, "aside"), await sessionOf(fleet, "aside")];
  expect(new Set([first, aside, again]).size).toBe(3);
  expect(await sessionOf(fleet)).toBe(first);
  expect(await sessionOf(fleet, "usual")).toBe(first);
});

test("the clock's own runs go on in it too", async () => {
  const on = await stage(hi);
  const agent = `  - name: one
    runtime: cli
    schedules:
      diary: { type: interval, every: 200ms, resume_session: true, prompt: Dear diary }`;
  const fleet = await startFleet(on, fleetFile(on, agent));
  const jobs = await until("three runs", async () => {
    const page = await fleet.jobs({ limit: 10, status: "completed" });
    return page.jobs.length >= 3 && page.jobs;
  });
  expect(new Set(jobs.map(({ session_id }) => session_id)).size).toBe(1);
});
