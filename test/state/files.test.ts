import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { placeFile, syncFile, writeFileAtomic } from "../../packages/core/src/state/atomic-file.ts";
import {
  placeOutcome,
  readOutcome,
  syncOutcome,
  writeOutcome,
} from "../../packages/core/src/state/outcome-file.ts";
import {
  currentProcess,
  identifyProcess,
  isAlive,
} from "../../packages/core/src/state/process-identity.ts";
import {
  appendJobOutput,
  createJob,
  saveSessionInfo,
  updateJob,
} from "../../packages/core/src/state/shorthand.ts";
import { StateManager } from "../../packages/core/src/state/state-manager.ts";
import { onCleanup, startProgram, tempFolder } from "./support.ts";

describe("a file written as a whole", () => {
  test("is the new one with the mode asked for, and no draft stays", async () => {
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

  test("that cannot be put in place leaves nothing behind", async () => {
    const folder = tempFolder();
    mkdirSync(join(folder, "taken", "inside"), { recursive: true });
    await expect(writeFileAtomic(join(folder, "taken"), "x")).rejects.toThrow();
    expect(readdirSync(folder)).toEqual(["taken"]);
  });

  test("at once is there before it is safe, and leaves as little behind", async () => {
    const folder = tempFolder();
    const file = join(folder, "notes.json");
    placeFile(file, "old", 0o644);
    placeFile(file, "new");
    expect(readFileSync(file, "utf8")).toBe("new");
    expect(statSync(file).mode & 0o777).toBe(0o600);
    await syncFile(file);
    mkdirSync(join(folder, "taken", "inside"), { recursive: true });
    expect(() => placeFile(join(folder, "taken"), "x")).toThrow();
    expect(readdirSync(folder).sort()).toEqual(["notes.json", "taken"]);
  });

  test("is never seen half, however often it is read meanwhile", async () => {
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

test("an outcome is there whole, not at all, or known to be damaged", async () => {
  const jobDir = join(tempFolder(), "jobs", "job-1");
  expect(await readOutcome(jobDir)).toEqual({ kind: "none" });
  await writeOutcome(jobDir, { code: "success" });
  expect(await readOutcome(jobDir)).toEqual({ kind: "found", value: { code: "success" } });
  placeOutcome(jobDir, { code: "cancelled" });
  expect(await readOutcome(jobDir)).toEqual({ kind: "found", value: { code: "cancelled" } });
  await syncOutcome(jobDir);
  writeFileSync(join(jobDir, "outcome.json"), "\0\0\0");
  const file = join(jobDir, "outcome.json");
  expect(await readOutcome(jobDir)).toEqual({ kind: "damaged", file });
  await expect(readOutcome(join(jobDir, "outcome.json"))).rejects.toThrow(/ENOTDIR/);
});

test("a process is alive as long as it runs, and its number alone is not it", async () => {
  expect(isAlive(currentProcess())).toBe(true);
  expect(isAlive({ ...currentProcess(), start_time: "1" })).toBe(false);
  expect(isAlive({ ...currentProcess(), boot_id: "another boot" })).toBe(false);
  const program = startProgram("hold-lock", tempFolder());
  const identity = identifyProcess(program.child.pid ?? 0);
  expect(identity && isAlive(identity)).toBe(true);
  await program.kill();
  expect(identity && isAlive(identity)).toBe(false);
});

describe("the public face", () => {
  test("takes an open state or a directory", async () => {
    const folder = join(tempFolder(), ".herdctl");
    const job = await createJob(folder, { agent: "coder", prompt: "p", idempotency_key: "k" });
    const state = await new StateManager(folder).open();
    onCleanup(() => state.close());
    expect((await createJob(state, { agent: "coder", prompt: "p", idempotency_key: "k" })).id).toBe(
      job.id,
    );
    expect(await updateJob(folder, job.id, { status: "running" })).toMatchObject({ applied: true });
    await saveSessionInfo(state, { session_id: "s", agent: "coder", place: "sdk", cwd: "/repo" });
    expect((await state.sessions.latest("coder", "sdk"))?.session_id).toBe("s");
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

  test("names its places and makes them only when they are needed", async () => {
    const folder = join(tempFolder(), ".herdctl");
    const state = new StateManager(folder);
    expect(state.dockerSessionsDir).toBe(join(folder, "docker-sessions"));
    expect(state.logsDir).toBe(join(folder, "logs"));
    expect(state.jobDir("job-2030-01-01-abc")).toBe(join(folder, "jobs", "job-2030-01-01-abc"));
    for (const id of ["..", "../x", "a/b", "", ".hidden", "x".repeat(200)]) {
      expect(() => state.jobDir(id)).toThrow(expect.objectContaining({ code: "job_not_found" }));
    }
    expect(existsSync(folder)).toBe(false);
  });

  test("can be opened and closed twice, and says so when it is closed", async () => {
    const state = new StateManager(join(tempFolder(), ".herdctl"));
    expect(() => state.jobs).toThrow(/not open/);
    await state.open();
    await state.open();
    expect(await state.approvals.open()).toEqual([]);
    await state.close();
    await state.close();
    expect(() => state.sessions).toThrow(/not open/);
  });
});
