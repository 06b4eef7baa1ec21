import { existsSync } from "node:fs";
import { join } from "node:path";
import { FleetManager, UserError } from "@herdctl/core";
import { expect, test } from "vitest";
import { fleetFile, startFleet } from "../support/fleet-process.ts";
import { until } from "../support/fleet-program.ts";
import { obey } from "../support/runtime.ts";
import { stage } from "../support/stage.ts";

const manual = { trigger: "manual" as const, agent: "one" };
const hi = { script: { rules: [{ reply: "Good morning." }] } };
const oneAgent = "  - { name: one, runtime: cli }";

test("a program goes on with a session, branches off from it, and lists what there is", async () => {
  const on = await stage(hi);
  const fleet = await startFleet(on, fleetFile(on, oneAgent));
  const first = await fleet.wait((await fleet.trigger({ ...manual, prompt: "first" })).job.id);
  const session = first.session_id ?? "";
  const byJob = await fleet.wait((await fleet.resume(first.id, "second")).job.id);
  const bySession = await fleet.wait((await fleet.resume(session, "third")).job.id);
  expect([byJob.session_id, bySession.session_id]).toEqual([session, session]);
  const fork = await fleet.wait((await fleet.fork(session, "fourth")).job.id);
  expect(fork).toMatchObject({ status: "completed", agent: "one", forked_from: session });
  expect(fork.session_id).not.toBe(session);

  const sessions = await fleet.sessions({ agent: "one" });
  expect(sessions.map(({ session_id }) => session_id)).toEqual([fork.session_id, session]);
  expect(sessions[0]?.obstacle).toBeNull();
  expect((await fleet.agents()).map(({ name }) => name)).toEqual(["one"]);
  expect((await fleet.getStatus()).fleet.running).toBe(0);
  const types: string[] = [];
  for await (const { message } of fleet.logs(fork.id)) types.push(message.type);
  expect(types.at(-1)).toBe("result");
  await expect(fleet.resume("no-such-session", "x")).rejects.toMatchObject({
    code: "session_not_found",
  });
});

test("a schedule that was switched stays so in the next fleet, whatever is configured", async () => {
  const on = await stage(hi);
  const schedules =
    "schedules: { on: { type: interval, every: 1h }, off: { type: interval, every: 1h, enabled: false } }";
  const file = fleetFile(on, `  - { name: one, runtime: cli, default_prompt: hi, ${schedules} }`);
  const first = await startFleet(on, file);
  const switched: string[] = [];
  first.on("schedule:switched", ({ schedule, enabled }) => switched.push(`${schedule} ${enabled}`));
  const enabled = async (fleet: FleetManager) =>
    (await fleet.agents())[0]?.schedules.map((one) => `${one.name} ${one.enabled}`);
  expect(await enabled(first)).toEqual(["on true", "off false"]);
  await first.disableSchedule("one", "on");
  await first.enableSchedule("one", "off");
  expect(switched).toEqual(["on false", "off true"]);
  await expect(first.enableSchedule("one", "weekly")).rejects.toThrow(/no schedule `weekly`/);
  await first.stop();
  expect(await enabled(await startFleet(on, file))).toEqual(["on false", "off true"]);
});

test("after it has stopped every question is answered with that, and nobody waits on", async () => {
  const on = await stage({ mode: "obedient" });
  const file = fleetFile(on, oneAgent);
  const fleet = await startFleet(on, file);
  await fleet.pauseAgent("one");
  const { job } = await fleet.trigger({ ...manual, prompt: "hello" });
  const waiting = fleet.wait(job.id).catch((error: unknown) => error);
  const following = drained(fleet.output(job.id, { follow: AbortSignal.timeout(30_000) }));
  const events = drained(fleet.events(new AbortController().signal));
  await fleet.stop();
  await fleet.stop();
  expect(await waiting).toMatchObject({ code: "fleet_unreachable" });
  expect(await following).toMatchObject({ code: "fleet_unreachable" });
  expect(await events).toBeUndefined();

  const questions: (() => unknown)[] = [
    () => fleet.start(),
    () => fleet.initialize(),
    () => fleet.status(),
    () => fleet.agents(),
    () => fleet.trigger({ ...manual, prompt: "late" }),
    () => fleet.resume(job.id, "late"),
    () => fleet.wait(job.id),
    () => fleet.cancel(job.id),
    () => fleet.job(job.id),
    () => fleet.jobs({ limit: 1 }),
    () => fleet.output(job.id),
    () => fleet.approvals(),
    () => fleet.answer("approval-1", "allow", "me"),
    () => fleet.sessions(),
    () => fleet.pauseAgent("one"),
    () => fleet.resumeAgent("one"),
    () => fleet.enableSchedule("one", "nightly"),
    () => fleet.reload(),
  ];
  for (const question of questions) {
    const answer = await (async () => question())().catch((error: unknown) => error);
    expect(answer, String(question)).toBeInstanceOf(UserError);
    expect(answer, String(question)).toMatchObject({ code: "fleet_unreachable" });
  }
  expect(await drained(fleet.events(new AbortController().signal))).toBeUndefined();
});

/** What a stream broke off with, if it did. */
async function drained(stream: AsyncIterable<unknown>): Promise<unknown> {
  try {
    for await (const _ of stream);
    return undefined;
  } catch (error) {
    return error;
  }
}

test("questions that meet the stop are answered, or told that it has stopped", async () => {
  const on = await stage(hi);
  const fleet = await startFleet(on, fleetFile(on, oneAgent));
  const answers: Promise<unknown>[] = [];
  const asking = setInterval(() => answers.push(fleet.status().catch((error) => error)), 1);
  await until("some answers", async () => answers.length > 5);
  await fleet.stop();
  clearInterval(asking);
  for (const answer of await Promise.all(answers)) {
    if (answer instanceof Error) expect(answer).toMatchObject({ code: "fleet_unreachable" });
  }
});

test("stopped while it starts, it lets go of everything", async () => {
  const on = await stage(hi);
  const file = fleetFile(on, oneAgent);
  const fleet = new FleetManager({ file, env: on.env });
  const started = fleet.start().catch((error: unknown) => error);
  await fleet.stop();
  await started;
  const next = await startFleet(on, file);
  expect((await next.status()).fleet.state).toBe("running");
});

test("where nobody can be asked a tool is denied at once", async () => {
  const on = await stage({ mode: "obedient" });
  const asks = "  - { name: one, runtime: cli, permission_mode: default }";
  const fleet = await startFleet(on, fleetFile(on, asks), { unattended: true });
  const prompt = obey(["Bash", { command: "touch asked" }]);
  const ended = await fleet.wait((await fleet.trigger({ ...manual, prompt })).job.id);
  expect(ended.outcome?.code).toBe("finished_with_denials");
  expect(existsSync(join(on.workspace, "asked"))).toBe(false);
  expect(await fleet.approvals()).toEqual([]);
});
