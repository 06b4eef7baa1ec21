import { existsSync } from "node:fs";
import { join } from "node:path";
import { FleetManager } from "@herdctl/core/internal";
import { UserError } from "@herdctl/protocol";
import { expect, test } from "vitest";
import { waitUntil } from "../support/fleet-child-process.ts";
import { startHarness } from "../support/harness.ts";
import { startFleetInProcess, writeFleetFile } from "../support/in-process-fleet.ts";
import { toolCallPrompt } from "../support/runtimes-under-test.ts";

const manualTrigger = { agent: "one" };
const greetingScript = { script: { rules: [{ reply: "Good morning." }] } };
const oneAgentYaml = "  - { name: one, runtime: cli }";

test("resumes and forks a session from a program and lists sessions", async () => {
  const harness = await startHarness(greetingScript);
  const fleet = await startFleetInProcess(harness, writeFleetFile(harness, oneAgentYaml));
  const first = await fleet.jobs.wait(
    (await fleet.jobs.trigger({ ...manualTrigger, prompt: "first" })).job.id,
  );
  const session = first.session_id ?? "";
  const byJob = await fleet.jobs.wait((await fleet.sessions.resume(first.id, "second")).job.id);
  const bySession = await fleet.jobs.wait((await fleet.sessions.resume(session, "third")).job.id);
  expect([byJob.session_id, bySession.session_id]).toEqual([session, session]);
  const fork = await fleet.jobs.wait((await fleet.sessions.fork(session, "fourth")).job.id);
  expect(fork).toMatchObject({ status: "completed", agent: "one", forked_from: session });
  expect(fork.session_id).not.toBe(session);

  const sessions = await fleet.sessions.list({ agent: "one" });
  expect(sessions.map(({ session_id }) => session_id)).toEqual([fork.session_id, session]);
  expect(sessions[0]?.obstacle).toBeNull();
  expect((await fleet.agents.list()).map(({ name }) => name)).toEqual(["one"]);
  expect((await fleet.status()).fleet.running).toBe(0);
  const types: string[] = [];
  for await (const { message } of fleet.jobs.output(fork.id)) types.push(message.type);
  expect(types.at(-1)).toBe("result");
  await expect(fleet.sessions.resume("no-such-session", "x")).rejects.toMatchObject({
    code: "session_not_found",
  });
});

test("keeps a switched schedule switched in the next fleet, whatever is configured", async () => {
  const harness = await startHarness(greetingScript);
  const schedules =
    "schedules: { on: { type: interval, every: 1h }, off: { type: interval, every: 1h, enabled: false } }";
  const file = writeFleetFile(
    harness,
    `  - { name: one, runtime: cli, default_prompt: hi, ${schedules} }`,
  );
  const first = await startFleetInProcess(harness, file);
  const switched: string[] = [];
  first.on("schedule:toggled", ({ schedule, enabled }) => switched.push(`${schedule} ${enabled}`));
  const enabled = async (fleet: FleetManager) =>
    (await fleet.agents.list())[0]?.schedules.map((one) => `${one.name} ${one.enabled}`);
  expect(await enabled(first)).toEqual(["on true", "off false"]);
  await first.schedules.disable({ agent: "one", schedule: "on" });
  await first.schedules.enable({ agent: "one", schedule: "off" });
  expect(switched).toEqual(["on false", "off true"]);
  await expect(first.schedules.enable({ agent: "one", schedule: "weekly" })).rejects.toThrow(
    /no schedule `weekly`/,
  );
  await first.shutdown();
  expect(await enabled(await startFleetInProcess(harness, file))).toEqual(["on false", "off true"]);
});

test("rejects every call after the stop and leaves no caller waiting", async () => {
  const harness = await startHarness({ mode: "obedient" });
  const file = writeFleetFile(harness, oneAgentYaml);
  const fleet = await startFleetInProcess(harness, file);
  await fleet.agents.pause("one");
  const { job } = await fleet.jobs.trigger({ ...manualTrigger, prompt: "hello" });
  const waiting = fleet.jobs.wait(job.id).catch((error: unknown) => error);
  const following = drain(
    fleet.jobs.output(job.id, { follow: true, signal: AbortSignal.timeout(30_000) }),
  );
  const events = drain(fleet.events({ signal: new AbortController().signal }));
  await fleet.shutdown();
  await fleet.shutdown();
  expect(await waiting).toMatchObject({ code: "fleet_unreachable" });
  expect(await following).toMatchObject({ code: "fleet_unreachable" });
  expect(await events).toBeUndefined();

  const questions: (() => unknown)[] = [
    () => fleet.start(),
    () => fleet.initialize(),
    () => fleet.status(),
    () => fleet.agents.list(),
    () => fleet.jobs.trigger({ ...manualTrigger, prompt: "late" }),
    () => fleet.sessions.resume(job.id, "late"),
    () => fleet.jobs.wait(job.id),
    () => fleet.jobs.cancel(job.id),
    () => fleet.jobs.get(job.id),
    () => fleet.jobs.list({ limit: 1 }),
    () => fleet.jobs.output(job.id),
    () => fleet.approvals.list(),
    () => fleet.approvals.answer("approval-1", "allow", { note: "me" }),
    () => fleet.sessions.list(),
    () => fleet.agents.pause("one"),
    () => fleet.agents.resume("one"),
    () => fleet.schedules.enable({ agent: "one", schedule: "nightly" }),
    () => fleet.reload(),
  ];
  for (const question of questions) {
    const answer = await (async () => question())().catch((error: unknown) => error);
    expect(answer, String(question)).toBeInstanceOf(UserError);
    expect(answer, String(question)).toMatchObject({ code: "fleet_unreachable" });
  }
  expect(await drain(fleet.events({ signal: new AbortController().signal }))).toBeUndefined();
});

/** Returns the error that ended the stream, if any. */
async function drain(stream: AsyncIterable<unknown>): Promise<unknown> {
  try {
    for await (const _ of stream);
    return undefined;
  } catch (error) {
    return error;
  }
}

test("answers calls that overlap with the stop, or rejects them as stopped", async () => {
  const harness = await startHarness(greetingScript);
  const fleet = await startFleetInProcess(harness, writeFleetFile(harness, oneAgentYaml));
  const answers: Promise<unknown>[] = [];
  const asking = setInterval(() => answers.push(fleet.status().catch((error) => error)), 1);
  await waitUntil("some answers", async () => answers.length > 5);
  await fleet.shutdown();
  clearInterval(asking);
  for (const answer of await Promise.all(answers)) {
    if (answer instanceof Error) expect(answer).toMatchObject({ code: "fleet_unreachable" });
  }
});

test("releases everything when stopped during the start", async () => {
  const harness = await startHarness(greetingScript);
  const file = writeFleetFile(harness, oneAgentYaml);
  const fleet = new FleetManager({ file, env: harness.env });
  const started = fleet.start().catch((error: unknown) => error);
  await fleet.shutdown();
  await started;
  const next = await startFleetInProcess(harness, file);
  expect((await next.status()).fleet.state).toBe("running");
});

test("denies a tool immediately when there is no one to ask", async () => {
  const harness = await startHarness({ mode: "obedient" });
  const asks = "  - { name: one, runtime: cli, permission_mode: default }";
  const fleet = await startFleetInProcess(harness, writeFleetFile(harness, asks), {
    unattended: true,
  });
  const prompt = toolCallPrompt(["Bash", { command: "touch asked" }]);
  const ended = await fleet.jobs.wait(
    (await fleet.jobs.trigger({ ...manualTrigger, prompt })).job.id,
  );
  expect(ended.outcome?.code).toBe("finished_with_denials");
  expect(existsSync(join(harness.workspace, "asked"))).toBe(false);
  expect(await fleet.approvals.list()).toEqual([]);
});
