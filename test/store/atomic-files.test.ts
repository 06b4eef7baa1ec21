import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { writeFileAtomic } from "../../packages/core/src/lib/atomic-file.ts";
import {
  currentProcess,
  identifyProcess,
  isAlive,
} from "../../packages/core/src/lib/process-identity.ts";
import { readOutcome, writeOutcome } from "../../packages/core/src/store/files/job-folder.ts";
import {
  appendJobOutput,
  createJob,
  saveSessionInfo,
  updateJob,
} from "../../packages/core/src/store/state-functions.ts";
import { StateManager } from "../../packages/core/src/store/state-manager.ts";
import { startTestProgram } from "./test-program.ts";
import { onCleanup, tempFolder } from "./test-stores.ts";

describe("atomic file", () => {
  test("replaces the file with the requested mode and leaves no draft", async () => {
    const folder = tempFolder();
    const file = join(folder, "notes.json");
    writeFileSync(file, "old", { mode: 0o644 });
    await writeFileAtomic(file, "new");
    expect(readFileSync(file, "utf8")).toBe("new");
    expect(statSync(file).mode & 0o777).toBe(0o600);
    await writeFileAtomic(file, Buffer.from("open"), 0o644);
    expect(statSync(file).mode & 0o777).toBe(0o644);
    expect(readdirSync(folder)).toEqual(["notes.json"]);
  });

  test("leaves nothing behind when the draft cannot be moved into place", async () => {
    const folder = tempFolder();
    mkdirSync(join(folder, "taken", "inside"), { recursive: true });
    await expect(writeFileAtomic(join(folder, "taken"), "x")).rejects.toThrow();
    expect(readdirSync(folder)).toEqual(["taken"]);
  });

  test("never exposes a half-written file to readers", async () => {
    const file = join(tempFolder(), "f");
    await writeFileAtomic(file, "0".repeat(100_000));
    const writing = (async () => {
      for (let n = 1; n < 40; n++) await writeFileAtomic(file, String(n % 10).repeat(100_000));
    })();
    const seen = new Set<string>();
    for (let n = 0; n < 200; n++) {
      const text = readFileSync(file, "utf8");
      expect(text).toBe(text.charAt(0).repeat(100_000));
      seen.add(text.charAt(0));
      await new Promise((resolve) => setImmediate(resolve));
    }
    await writing;
    expect(seen.size).toBeGreaterThan(1);
  });
});

test("reads an outcome whole, as missing, or as damaged", async () => {
  const jobDir = join(tempFolder(), "jobs", "job-1");
  expect(await readOutcome(jobDir)).toEqual({ kind: "none" });
  await writeOutcome(jobDir, { code: "success" });
  expect(await readOutcome(jobDir)).toEqual({ kind: "found", value: { code: "success" } });
  writeFileSync(join(jobDir, "outcome.json"), "\0\0\0");
  const file = join(jobDir, "outcome.json");
  expect(await readOutcome(jobDir)).toEqual({ kind: "damaged", file });
  await expect(readOutcome(join(jobDir, "outcome.json"))).rejects.toThrow(/ENOTDIR/);
});

test("identifies a live process by more than its pid", async () => {
  expect(isAlive(currentProcess())).toBe(true);
  expect(isAlive({ ...currentProcess(), start_time: "1" })).toBe(false);
  expect(isAlive({ ...currentProcess(), boot_id: "another boot" })).toBe(false);
  const program = startTestProgram("hold-lock", tempFolder());
  const identity = identifyProcess(program.child.pid ?? 0);
  expect(identity && isAlive(identity)).toBe(true);
  await program.kill();
  expect(identity && isAlive(identity)).toBe(false);
});

describe("public state manager", () => {
  test("accepts an open state or a directory", async () => {
    const folder = join(tempFolder(), ".herdctl");
    const job = await createJob(folder, { agent: "coder", prompt: "p", idempotency_key: "k" });
    const state = await new StateManager(folder).open();
    onCleanup(() => state.close());
    expect((await createJob(state, { agent: "coder", prompt: "p", idempotency_key: "k" })).id).toBe(
      job.id,
    );
    expect(await updateJob(folder, job.id, { status: "running" })).toMatchObject({ applied: true });
    await saveSessionInfo(state, {
      session_id: "s",
      agent: "coder",
      session_home: "sdk",
      cwd: "/repo",
    });
    expect((await state.sessions.findLatest("coder", "sdk"))?.session_id).toBe("s");
    expect((await state.jobs.get(job.id))?.status).toBe("running");

    const lines = Array.from({ length: 50 }, (_, n) =>
      appendJobOutput(n % 2 ? state : folder, job.id, { n }),
    );
    await Promise.all(lines);
    const written = readFileSync(job.output_file, "utf8").trim().split("\n");
    expect(written.map((line) => JSON.parse(line).n)).toEqual(
      Array.from({ length: 50 }, (_, n) => n),
    );
  });

  test("names its paths, and creates the folder of container sessions when it is opened", async () => {
    const folder = join(tempFolder(), ".herdctl");
    const state = new StateManager(folder);
    expect(state.dockerSessionsDir).toBe(join(folder, "docker-sessions"));
    expect(state.logsDir).toBe(join(folder, "logs"));
    expect(state.jobDir("job-2030-01-01-abc")).toBe(join(folder, "jobs", "job-2030-01-01-abc"));
    for (const id of ["..", "../x", "a/b", "", ".hidden", "x".repeat(200)]) {
      expect(() => state.jobDir(id)).toThrow(expect.objectContaining({ code: "job_not_found" }));
    }
    expect(existsSync(folder)).toBe(false);
    await state.initialize();
    onCleanup(() => state.close());
    expect(statSync(state.dockerSessionsDir).mode & 0o777).toBe(0o700);
  });

  test("allows opening and closing twice, and reports use after closing", async () => {
    const state = new StateManager(join(tempFolder(), ".herdctl"));
    expect(() => state.jobs).toThrow(/not open/);
    await state.open();
    await state.open();
    expect(await state.approvals.listOpen()).toEqual([]);
    await state.close();
    await state.close();
    expect(() => state.sessions).toThrow(/not open/);
  });
});
