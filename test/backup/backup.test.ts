import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import {
  type Check,
  createBackup,
  FleetManager,
  type LoadedFleet,
  loadFleet,
  restoreBackup,
  runDoctor,
} from "@herdctl/core/internal";
import { expect, onTestFinished, test } from "vitest";
import { claudeBinary } from "../support/claude-binaries.ts";
import { startHarness } from "../support/harness.ts";
import { tempFolderWith } from "../support/temp-folder.ts";

const fleetFile = `version: 1
fleet: { name: shop, max_keep_alive: 0 }
claude_path: ${claudeBinary("325")}
defaults: { working_directory: ./work, permission_mode: bypassPermissions, max_concurrent: 10 }
agents: [{ name: coder }]
`;

async function startFleet(folder: string, env: Record<string, string>) {
  const fleet = new FleetManager({ file: join(folder, "herdctl.yaml"), env });
  onTestFinished(() => fleet.shutdown({ drainMs: 0 }));
  await fleet.start();
  return fleet;
}

test("a backup of a fleet with ten running jobs is restored elsewhere, and a session continues", async () => {
  const harness = await startHarness({ mode: "obedient" });
  const env = { ...harness.env, CLAUDE_CODE_MAX_RETRIES: "1" };
  const old = tempFolderWith({ "herdctl.yaml": fleetFile, "work/readme": "", ".env": "A=b\n" });
  const fleet = await startFleet(old, env);
  const trigger = (prompt: string, resume?: string) =>
    fleet.jobs.trigger({ agent: "coder", prompt, ...(resume && { resume }) });
  const first = await fleet.jobs.wait((await trigger("Remember the word heron.")).job.id);
  const running = await Promise.all(
    Array.from({ length: 10 }, () => trigger('OBEY: Bash {"command":"sleep 8"}')),
  );
  const file = join(old, "shop.backup");
  await createBackup(loadFleet(join(old, "herdctl.yaml"), env), { file, password: "secret word" });
  expect(readFileSync(file).includes("heron")).toBe(false);
  await fleet.shutdown({ drainMs: 0 });

  const fresh = tempFolderWith({ ".keep": "" });
  const restore = (password?: string) =>
    restoreBackup({ file, ...(password && { password }) }, { dir: fresh, environment: env });
  await expect(restore()).rejects.toThrow(/is encrypted/);
  await expect(restore("wrong")).rejects.toThrow(/password is wrong/);
  await restore("secret word");
  await expect(restore("secret word")).rejects.toThrow(/already holds the state/);
  expect(() => readFileSync(join(fresh, ".env"))).toThrow(/ENOENT/);

  const restored = await startFleet(fresh, env);
  expect((await restored.jobs.list({ limit: 50 })).jobs).toHaveLength(11);
  const again = await restored.jobs.trigger({
    ...{ agent: "coder", prompt: "Which word?", resume: first.id },
  });
  const continued = await restored.jobs.wait(again.job.id);
  expect(continued).toMatchObject({
    outcome: { code: "success" },
    session_id: first.session_id,
    output_file: expect.stringContaining(fresh),
  });
  const record = await restored.jobs.get(first.id);
  expect(record?.job.output_file).toBe(join(fresh, ".herdctl/jobs", first.id, "output.jsonl"));
  expect(readFileSync(record?.job.output_file ?? "", "utf8")).toContain('"result"');
  for (const { job } of running) expect(await restored.jobs.get(job.id)).toBeDefined();
}, 120_000);

test("the doctor replaces a damaged state by the last backup, and keeps the damaged files", async () => {
  const harness = await startHarness({ script: { default: "Done." } });
  const folder = tempFolderWith({ "herdctl.yaml": fleetFile, "work/readme": "" });
  const file = join(folder, "shop.tar.gz");
  const loaded = () => loadFleet(join(folder, "herdctl.yaml"), harness.env);
  const fleet = await startFleet(folder, harness.env);
  const trigger = (prompt: string) => fleet.jobs.trigger({ agent: "coder", prompt });
  const saved = await fleet.jobs.wait((await trigger("before the backup")).job.id);
  await createBackup(loaded(), { file });
  const lost = await fleet.jobs.wait((await trigger("after the backup")).job.id);
  const whileRunning = await findStateCheck(loaded(), { fix: true });
  expect(whileRunning).toMatchObject({ verdict: "ok", message: "The database is intact." });
  await fleet.shutdown({ drainMs: 0 });

  const state = join(folder, ".herdctl");
  overwriteStart(join(state, "herd.db"));
  await expect(startFleet(folder, harness.env)).rejects.toThrow(/herd\.db is damaged/);
  expect(await findStateCheck(loaded(), {})).toMatchObject({
    verdict: "failed",
    message: expect.stringContaining("herd.db is damaged"),
    hint: expect.stringContaining(`restores the backup of`),
    fix: { kind: "restore_state", backup: file },
  });
  expect(await findStateCheck(loaded(), { fix: true })).toMatchObject({
    verdict: "ok",
    fixed: true,
    message: expect.stringContaining(`Restored the backup of`),
  });
  const kept = readdirSync(state).filter((name) => name.includes(".damaged-"));
  expect(kept.sort()).toEqual([
    expect.stringMatching(/^herd\.db\.damaged-/),
    expect.stringMatching(/^jobs\.damaged-/),
  ]);
  const restored = await startFleet(folder, harness.env);
  expect((await restored.jobs.list()).jobs.map(({ id }) => id)).toEqual([saved.id]);
  expect(existsSync(join(state, kept[1] ?? "", lost.id))).toBe(true);
  await restored.shutdown({ drainMs: 0 });

  rmSync(file);
  overwriteStart(join(state, "herd.db"));
  const withoutBackup = await findStateCheck(loaded(), { fix: true });
  expect(withoutBackup).toMatchObject({
    verdict: "failed",
    hint: expect.stringContaining("--empty-state"),
  });
  expect(await findStateCheck(loaded(), { fix: true, acceptEmptyState: true })).toMatchObject({
    fixed: true,
    message: expect.stringContaining("continues with an empty state"),
  });
  const empty = await startFleet(folder, harness.env);
  expect((await empty.jobs.list()).jobs).toEqual([]);
}, 120_000);

async function findStateCheck(
  loaded: LoadedFleet,
  options: { fix?: boolean; acceptEmptyState?: boolean },
): Promise<Check | undefined> {
  const { signal } = new AbortController();
  const target = { kind: "loaded", loaded } as const;
  const env = loaded.environment;
  const checks = runDoctor({
    target,
    cwd: loaded.fleet.dir,
    env,
    offline: true,
    signal,
    ...options,
  });
  for await (const check of checks) if (check.name === "state") return check;
  return undefined;
}

function overwriteStart(file: string): void {
  const descriptor = openSync(file, "r+");
  writeSync(descriptor, Buffer.alloc(4096, "x"), 0, 4096, 0);
  closeSync(descriptor);
}

test("a file that is no backup changes nothing", async () => {
  const folder = tempFolderWith({ "x.tar.gz": "no archive" });
  mkdirSync(join(folder, "sub"));
  writeFileSync(join(folder, "sub", "note"), "kept");
  const source = { file: join(folder, "x.tar.gz") };
  await expect(restoreBackup(source, { dir: folder, environment: {} })).rejects.toThrow(
    /archive could not be processed/,
  );
  expect(() => readFileSync(join(folder, ".herdctl/herd.db"))).toThrow(/ENOENT/);
});
