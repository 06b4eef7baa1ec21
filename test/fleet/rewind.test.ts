import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { StateManager } from "@herdctl/core/internal";
import { expect, test } from "vitest";
import { chooseRewindPoint } from "../../packages/core/src/claude/rewind-files.ts";
import { sessionFilePath } from "../../packages/core/src/claude/session-files/session-file-path.ts";
import { currentProcess } from "../../packages/core/src/lib/process-identity.ts";
import { startHarness } from "../support/harness.ts";
import { startFleetInProcess, writeFleetFile } from "../support/in-process-fleet.ts";
import { toolCallPrompt } from "../support/runtimes-under-test.ts";

const agents = ["sdk", "cli"]
  .map((runtime) => `  - { name: ${runtime}, runtime: ${runtime}, file_checkpointing: true }`)
  .concat("  - { name: without, runtime: cli }")
  .join("\n");

test("restores the files of a job on both runtimes, and refuses what is unsafe", async () => {
  const harness = await startHarness({ mode: "obedient" });
  const { workspace, configDir } = harness;
  const file = writeFleetFile(harness, agents);
  const fleet = await startFleetInProcess(harness, file);
  const run = async (agent: string, prompt: string, resume?: string) =>
    fleet.jobs.wait((await fleet.jobs.trigger({ agent, prompt, resume })).job.id);
  const [changed, created, byCommand] = ["changed", "created", "command"].map((name) =>
    join(workspace, name),
  ) as [string, string, string];
  const edit = toolCallPrompt(
    ["Read", { file_path: changed }],
    ["Write", { file_path: changed, content: "after" }],
    ["Write", { file_path: created, content: "new" }],
    ["Bash", { command: `touch ${byCommand}` }],
  );
  const runHook = join(workspace, "hook-ran");
  const editOn = async (agent: string) => {
    writeFileSync(changed, "before");
    const job = await run(agent, edit);
    expect([readFileSync(changed, "utf8"), existsSync(created)]).toEqual(["after", true]);
    return job;
  };
  const filesNow = () => [
    readFileSync(changed, "utf8"),
    existsSync(created),
    existsSync(byCommand),
  ];

  const first = await editOn("sdk");
  // Hooks of the repository are not run.
  const hook = { hooks: [{ type: "command", command: `touch ${runHook}` }] };
  mkdirSync(join(workspace, ".claude"));
  const settings = JSON.stringify({ hooks: { SessionStart: [hook] } });
  writeFileSync(join(workspace, ".claude/settings.json"), settings);
  const cwd = dirname(file);
  await fleet.jobs.rewind(first.id);
  expect([...filesNow(), existsSync(runHook)]).toEqual(["before", false, true, false]);
  rmSync(join(workspace, ".claude"), { recursive: true });

  const second = await editOn("cli");
  const later = await run(
    "cli",
    toolCallPrompt(["Write", { file_path: changed, content: "later" }]),
    second.id,
  );
  const points = await fleet.jobs.rewindPoints(later.id);
  expect(points.map(({ of_job }) => of_job)).toEqual([false, true]);
  const result = await fleet.jobs.rewind(later.id);
  expect(result).toMatchObject({ session_id: second.session_id, point: points[1] });
  expect(filesNow()).toEqual(["after", true, true]);
  await fleet.jobs.rewind(later.id, { to: points[0]?.message });
  expect(filesNow()).toEqual(["before", false, true]);
  const { records } = await fleet.audit.list({ action: "job.rewind" });
  expect(records.map(({ target, outcome }) => [target, outcome])).toEqual([
    [later.id, "ok"],
    [later.id, "ok"],
    [first.id, "ok"],
  ]);

  await expect(fleet.jobs.rewind(later.id, { to: "nothing" })).rejects.toThrow(
    /no message nothing/,
  );
  await expect(fleet.jobs.rewind("job-none")).rejects.toThrow(/no job job-none/);
  const without = await run("without", "hello");
  await expect(fleet.jobs.rewind(without.id)).rejects.toThrow(/keeps no copies/);

  const sessionId = second.session_id ?? "";
  const state = await new StateManager(join(cwd, ".herdctl")).open();
  const holder = { ...currentProcess(), job_id: "job-other" };
  await state.sessions.lease(sessionId, holder, new Date(Date.now() + 60_000));
  await expect(fleet.jobs.rewind(later.id)).rejects.toThrow(/job-other uses session/);
  await state.sessions.release(sessionId, holder);

  const { job: busy } = await fleet.jobs.trigger({
    agent: "without",
    prompt: toolCallPrompt(["Bash", { command: "sleep 30" }]),
  });
  await expect.poll(async () => (await fleet.jobs.get(busy.id))?.job.status).toBe("running");
  await expect(fleet.jobs.rewind(later.id)).rejects.toThrow(`job ${busy.id} is running in`);
  await fleet.jobs.cancel(busy.id, { force: true });
  await fleet.jobs.wait(busy.id);

  rmSync(sessionFilePath({ place: "cli", configDir, cwd: workspace }, sessionId));
  await expect(fleet.jobs.rewind(later.id)).rejects.toThrow(/transcript .* is gone/);
  const session = await state.sessions.get(sessionId);
  if (!session) throw new Error("the session is missing");
  const { created_at: _created, last_used_at: _used, ...info } = session;
  await state.sessions.save({ ...info, session_home: "docker" });
  await expect(fleet.jobs.rewind(later.id)).rejects.toThrow(/in a container/);
  await state.close();
}, 60_000);

test("chooses the first message of the job, or the one that is named", () => {
  const point = (message: string, of_job: boolean) => ({ message, at: null, prompt: "", of_job });
  const points = [point("aa1", false), point("ab2", true), point("b3", true)];
  expect(chooseRewindPoint(points).message).toBe("ab2");
  expect(chooseRewindPoint(points, "b").message).toBe("b3");
  expect(() => chooseRewindPoint(points, "a")).toThrow(/several messages begin with a/);
  expect(() => chooseRewindPoint(points, "")).toThrow(/no message/);
  expect(() => chooseRewindPoint(points.slice(0, 1))).toThrow(/no message of this job/);
});
