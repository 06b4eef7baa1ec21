import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { identities } from "@herdctl/core/internal";
import { ProblemsError, UserError } from "@herdctl/protocol";
import { connectFleet } from "@herdctl/protocol/client";
import { expect, test } from "vitest";
import { tempFolderWith } from "../support/temp-folder.ts";
import { connect, startSocketHarness } from "./socket-harness.ts";

test("reports no fleet when no server listens on the socket", async () => {
  const folder = tempFolderWith({ "file.sock": "" });
  expect(await connectFleet({ socketPath: join(folder, "none.sock") })).toBeUndefined();
  expect(await connectFleet({ socketPath: join(folder, "file.sock") })).toBeUndefined();
  expect(
    await connectFleet({ socketPath: join(folder, "x".repeat(150), "none.sock") }),
  ).toBeUndefined();
});

test("returns the fleet's status over the socket", async () => {
  const { fleet, socket } = await startSocketHarness();
  const client = await connect(socket);
  const { job } = await client.jobs.trigger({ agent: "coder" });
  await fleet.startJob(job);
  const status = await client.status();
  expect(status.fleet).toMatchObject({ name: "small", pid: process.pid, running: 1, pending: 0 });
  expect(status.agents.map(({ name }) => name)).toEqual(["coder", "writer"]);
  expect(status.agents[0]?.running).toMatchObject([{ job_id: job.id }]);
});

test("creates one job per trigger, and returns it again for the same key", async () => {
  const { fleet, socket } = await startSocketHarness();
  const client = await connect(socket);
  const request = { agent: "writer", prompt: "Write “ä”.", key: "k1" } as const;
  const first = await client.jobs.trigger(request);
  const again = await client.jobs.trigger(request);
  expect(first).toMatchObject({ created: true, job: { agent: "writer", prompt: "Write “ä”." } });
  expect(again).toMatchObject({ created: false, job: { id: first.job.id } });
  expect(await fleet.jobs.get(first.job.id)).toEqual({ job: first.job, attempts: [] });
});

test("returns a job with its attempts, and undefined for a missing one", async () => {
  const { fleet, socket } = await startSocketHarness();
  const client = await connect(socket);
  const { job } = await client.jobs.trigger({ agent: "coder" });
  await fleet.startJob(job);
  expect(await client.jobs.get(job.id)).toEqual(await fleet.jobs.get(job.id));
  expect((await client.jobs.get(job.id))?.attempts).toHaveLength(1);
  expect(await client.jobs.get("job-none")).toBeUndefined();
});

test("lists jobs by agent, status and time, page by page", async () => {
  const { fleet, socket } = await startSocketHarness();
  const client = await connect(socket);
  for (const agent of ["coder", "writer", "coder"]) {
    await client.jobs.trigger({ agent, prompt: "go" });
  }
  const first = await client.jobs.list({ agent: "coder", limit: 1 });
  const second = await client.jobs.list({
    agent: "coder",
    limit: 1,
    cursor: first.next_cursor ?? "",
  });
  expect([first, second]).toEqual([
    await fleet.jobs.list({ agent: "coder", limit: 1 }),
    await fleet.jobs.list({ agent: "coder", limit: 1, cursor: first.next_cursor ?? "" }),
  ]);
  const old = new Date(Date.now() - 60_000);
  expect((await client.jobs.list({ status: "pending", since: old, limit: 10 })).jobs).toHaveLength(
    3,
  );
  const later = new Date(Date.now() + 60_000);
  expect((await client.jobs.list({ since: later, limit: 10 })).jobs).toEqual([]);
});

test("waits for the finished job, also when it was finished before", async () => {
  const { fleet, socket } = await startSocketHarness();
  const client = await connect(socket);
  const { job } = await client.jobs.trigger({ agent: "coder" });
  await fleet.startJob(job);
  const waiting = client.jobs.wait(job.id);
  const done = await fleet.finishJob(job);
  expect(await waiting).toEqual(done);
  expect(await client.jobs.wait(job.id)).toEqual(done);
});

test("stops waiting on request", async () => {
  const { socket } = await startSocketHarness();
  const client = await connect(socket);
  const { job } = await client.jobs.trigger({ agent: "coder" });
  const waiting = client.jobs.wait(job.id, { signal: AbortSignal.timeout(50) });
  await expect(waiting).rejects.toMatchObject({ name: "TimeoutError" });
  expect((await client.status()).fleet.pending).toBe(1);
});

test("cancels a job", async () => {
  const { socket } = await startSocketHarness();
  const client = await connect(socket);
  const { job } = await client.jobs.trigger({ agent: "coder" });
  expect(await client.jobs.cancel(job.id, { force: true })).toMatchObject({ status: "cancelled" });
  expect(await client.jobs.wait(job.id)).toMatchObject({ outcome: { code: "cancelled" } });
});

test("lists and answers permission requests", async () => {
  const { fleet, socket } = await startSocketHarness();
  const client = await connect(socket);
  const { job } = await client.jobs.trigger({ agent: "coder" });
  await fleet.startJob(job);
  const asked = await fleet.createApproval(job, "Bash", { command: "ls" });
  expect(await client.approvals.list()).toEqual([asked]);
  const answered = await client.approvals.answer(asked.id, "allow", { note: "a person" });
  expect(answered).toMatchObject({
    answer: "allow",
    answered_by: identities.user(),
    answered_note: "a person",
  });
  expect(await client.approvals.list()).toEqual([]);
  await expect(
    client.approvals.answer("approval-none", "deny", { note: "me" }),
  ).rejects.toMatchObject({
    code: "approval_not_found",
  });
});

test("replies to a question and rejects an unknown choice with the list", async () => {
  const { fleet, socket } = await startSocketHarness();
  const client = await connect(socket);
  const { job } = await client.jobs.trigger({ agent: "coder" });
  await fleet.startJob(job);
  const choices = ["Red", "Blue"].map((label) => ({ label, description: null }));
  const asked = await fleet.createApproval(
    job,
    "mcp__herd__ask",
    {},
    {
      question: "Which?",
      choices,
      free_text: false,
      multiple: false,
      default_reply: null,
    },
  );
  expect(await client.approvals.list()).toMatchObject([
    { kind: "question", question: "Which?", choices },
  ]);
  await expect(
    client.approvals.answer(asked.id, { reply: "Green" }, { note: "me" }),
  ).rejects.toMatchObject({
    code: "reply_unfit",
    message: expect.stringContaining("Red, Blue"),
  });
  await expect(client.approvals.answer(asked.id, "allow", { note: "me" })).rejects.toMatchObject({
    code: "reply_unfit",
  });
  expect(await client.approvals.answer(asked.id, { reply: "red" }, { note: "me" })).toMatchObject({
    answer: "reply",
    reply: "Red",
    answered_by: identities.user(),
    answered_note: "me",
  });
});

test("pauses and resumes agents with any characters in their names", async () => {
  const { socket } = await startSocketHarness();
  const client = await connect(socket);
  await client.agents.pause("coder");
  expect((await client.status()).agents[0]?.paused).toMatchObject({ reason: "by hand" });
  await client.agents.resume("coder");
  expect((await client.status()).agents[0]?.paused).toBeNull();
  await expect(client.agents.pause("a/b?c ä")).rejects.toThrow("there is no agent `a/b?c ä`");
});

test("switches schedules off and on", async () => {
  const { socket } = await startSocketHarness();
  const client = await connect(socket);
  const nightly = async () => (await client.status()).agents[0]?.schedules;
  await client.schedules.disable({ agent: "coder", schedule: "nightly" });
  expect(await nightly()).toEqual([{ name: "nightly", type: "interval", enabled: false }]);
  await client.schedules.enable({ agent: "coder", schedule: "nightly" });
  expect(await nightly()).toMatchObject([{ enabled: true }]);
});

test("lists sessions with the reason why a person cannot resume them", async () => {
  const { fleet, socket } = await startSocketHarness();
  const client = await connect(socket);
  const { job } = await client.jobs.trigger({ agent: "coder" });
  await fleet.recordSession(job, "a-session");
  const [session, ...others] = await client.sessions.list({ agent: "coder" });
  expect(others).toEqual([]);
  expect(session).toMatchObject({ session_id: "a-session", expired: false, job_id: job.id });
  expect(session?.obstacle?.short).toBe("no folder");
  expect(await client.sessions.list()).toEqual(await fleet.sessions.list());
  expect(await client.sessions.list({ agent: "writer" })).toEqual([]);
});

test("returns every problem of a failed reload with its position", async () => {
  const { fleet, socket } = await startSocketHarness();
  const client = await connect(socket);
  await client.reload();
  expect(fleet.reloadCount).toBe(1);
  writeFileSync(fleet.file, `${readFileSync(fleet.file, "utf8")}    wrong: 1\n    worse: 2\n`);
  const here = await fleet.reload().catch((error: unknown) => error);
  const there = await client.reload().catch((error: unknown) => error);
  if (!(here instanceof ProblemsError)) return expect.fail("the configuration was accepted");
  expect(there).toBeInstanceOf(ProblemsError);
  expect(there).toMatchObject({ code: "config_invalid", problems: here.problems, exitCode: 2 });
  expect(here.problems).toHaveLength(2);
});

test("passes the options of a shutdown", async () => {
  const { fleet, socket } = await startSocketHarness();
  const client = await connect(socket);
  await client.shutdown({ drainMs: 100, detach: true });
  expect(fleet.shutdownCalls).toEqual([{ drainMs: 100, detach: true }]);
});

test("rethrows an error of the fleet as the same error", async () => {
  const { fleet, socket } = await startSocketHarness();
  const client = await connect(socket);
  const request = { agent: "nobody" } as const;
  const here: unknown = await fleet.jobs.trigger(request).catch((error: unknown) => error);
  const there: unknown = await client.jobs.trigger(request).catch((error: unknown) => error);
  if (!(here instanceof UserError)) return expect.fail("there is such an agent");
  expect(there).toBeInstanceOf(UserError);
  const { code, message, hint, exitCode } = here;
  expect(there).toMatchObject({ code, message, hint, exitCode });
});

test("reports a fleet that has gone as unreachable, and as shut down", async () => {
  const { server, socket } = await startSocketHarness();
  const client = await connect(socket);
  await server.stop();
  await expect(client.status()).rejects.toMatchObject({ code: "fleet_unreachable", exitCode: 3 });
  await client.shutdown();
});

test("receives the answer to a long request from a fleet that stops right after it", async () => {
  const { server, socket } = await startSocketHarness();
  const client = await connect(socket);
  const prompt = "x".repeat(4 * 1024 * 1024);
  const { job } = await client.jobs.trigger({ agent: "coder", prompt });
  await server.stop();
  expect(job.prompt).toHaveLength(prompt.length);
});

const packages = resolve(import.meta.dirname, "../../packages");

/** The static imports of a source file, except types. */
function loadedWith(file: string): string[] {
  const imports = readFileSync(file, "utf8").matchAll(
    /^(?:im|ex)port (?!type)[^;]*? from "([^"]+)"/gm,
  );
  return [...imports].flatMap(([, name = ""]) => {
    if (name === "@herdctl/protocol") return loadedWith(join(packages, "protocol/src/index.ts"));
    return name.startsWith(".") ? loadedWith(resolve(dirname(file), name)) : [name];
  });
}

test("loads only Node's own modules in the client, so that commands start quickly", () => {
  const loaded = loadedWith(join(packages, "protocol/src/client.ts"));
  expect([...new Set(loaded)].sort()).toEqual([
    "node:fs",
    "node:http",
    "node:https",
    "node:os",
    "node:path",
    "node:timers/promises",
  ]);
});
