import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createStores } from "../../packages/core/src/store/sql/stores.ts";
import { SqliteDatabase } from "../../packages/core/src/store/sqlite/database.ts";
import { migrations } from "../../packages/core/src/store/sqlite/migrations.ts";
import { openForReading, openForWriting } from "../../packages/core/src/store/sqlite/open.ts";
import { StateManager } from "../../packages/core/src/store/state-manager.ts";
import { onCleanup, tempFolder } from "./test-stores.ts";

const jobCount = 100;

async function open(stateDir: string, options = {}): Promise<StateManager> {
  const state = await new StateManager(stateDir).open(options);
  onCleanup(() => state.close());
  return state;
}

const template = mkdtempSync(join(tmpdir(), "herdctl-state-"));
beforeAll(async () => {
  const state = await new StateManager(template).open();
  for (let n = 0; n < jobCount; n++) {
    await state.jobs.create({ agent: "coder", prompt: `job ${n} ${"text ".repeat(100)}` });
  }
  await state.close();
});
afterAll(() => rmSync(template, { recursive: true }));

function copyStateWithJobs(): { folder: string; file: string } {
  const folder = join(tempFolder(), ".herdctl");
  const file = join(folder, "herd.db");
  mkdirSync(folder);
  copyFileSync(join(template, "herd.db"), file);
  return { folder, file };
}

const fileMode = (path: string) => (statSync(path).mode & 0o777).toString(8);

describe("new state", () => {
  test("creates a state readable by its owner only, whatever the umask", async () => {
    const umask = process.umask(0);
    onCleanup(() => process.umask(umask));
    const folder = join(tempFolder(), "deep", ".herdctl");
    const state = await open(folder);
    await state.jobs.create({ agent: "coder", prompt: "hi" });
    expect(fileMode(folder)).toBe("700");
    const modes = readdirSync(folder).map((name) => [name, fileMode(join(folder, name))]);
    expect(modes).toEqual([
      ["docker-sessions", "700"],
      ["herd.db", "600"],
      ["herd.db-shm", "600"],
      ["herd.db-wal", "600"],
    ]);
  });

  test("opens the database with WAL, full synchronization and foreign keys", async () => {
    const file = join(tempFolder(), "herd.db");
    const database = openForWriting(file);
    onCleanup(() => database.close());
    expect(database.get("PRAGMA journal_mode")).toEqual({ journal_mode: "wal" });
    expect(database.get("PRAGMA synchronous")).toEqual({ synchronous: 2 });
    expect(database.get("PRAGMA foreign_keys")).toEqual({ foreign_keys: 1 });
  });

  test("shows an empty state and leaves no trace when opened for reading", async () => {
    const folder = join(tempFolder(), ".herdctl");
    const state = await open(folder, { readOnly: true });
    expect(await state.jobs.list({ limit: 10 })).toEqual({ jobs: [], next_cursor: null });
    expect(existsSync(folder)).toBe(false);
  });

  test("reports a folder that cannot be created", async () => {
    const blocker = join(tempFolder(), "file");
    writeFileSync(blocker, "");
    const refused = new StateManager(join(blocker, ".herdctl")).open();
    await expect(refused).rejects.toMatchObject({ code: "state_unavailable", exitCode: 4 });
  });
});

test("removes the leftovers of a process that died while it created a database", async () => {
  const { folder } = copyStateWithJobs();
  const dead = ["herd.db.new-999999999", "herd.db.new-999999999-wal"];
  for (const name of dead) writeFileSync(join(folder, name), "half");
  writeFileSync(join(folder, `herd.db.new-${process.pid}`), "of somebody who lives");
  await open(folder);
  expect(readdirSync(folder).filter((name) => name.includes("new-"))).toEqual([
    `herd.db.new-${process.pid}`,
  ]);
});

describe("reading the state", () => {
  test("sees what the writer writes while both are open", async () => {
    const { folder } = copyStateWithJobs();
    const writer = await open(folder);
    const reader = await open(folder, { readOnly: true });
    await writer.jobs.create({ agent: "coder", prompt: "second" });
    expect((await reader.jobs.list({ limit: 1000 })).jobs).toHaveLength(jobCount + 1);
  });

  test("refuses writes when opened for reading", async () => {
    const { folder } = copyStateWithJobs();
    const reader = await open(folder, { readOnly: true });
    await expect(reader.jobs.create({ agent: "a", prompt: "p" })).rejects.toMatchObject({
      code: "state_unavailable",
    });
  });

  test("does not disturb the next start of the writer", async () => {
    const { folder } = copyStateWithJobs();
    const reader = await open(folder, { readOnly: true });
    const writer = await open(folder);
    await writer.close();
    await reader.close();
    expect(await (await open(folder)).jobs.listUnfinished()).toHaveLength(jobCount);
  });
});

test("refuses new work on a full disk, keeps existing data and continues once there is space", async () => {
  const { file } = copyStateWithJobs();
  const database = openForWriting(file);
  onCleanup(() => database.close());
  const { jobs } = createStores(database, { outputFile: () => "output.jsonl" });
  const large = { agent: "coder", prompt: "x".repeat(100_000), idempotency_key: "large" };
  // Simulates a full disk: SQLite reports the same error at the same place.
  database.get("PRAGMA max_page_count = 1");
  await expect(jobs.create(large)).rejects.toMatchObject({
    code: "state_unavailable",
    message: expect.stringContaining("the disk is full"),
  });
  expect(await jobs.listUnfinished()).toHaveLength(jobCount);
  database.get("PRAGMA max_page_count = 100000");
  expect((await jobs.create(large)).created).toBe(true);
  expect(await jobs.listUnfinished()).toHaveLength(jobCount + 1);
});

describe("versions of the state", () => {
  test("runs each further step once, in order, and keeps existing data", async () => {
    const { file } = copyStateWithJobs();
    const steps = [
      ...migrations,
      "CREATE TABLE notes (text TEXT)",
      "INSERT INTO notes VALUES ('third')",
    ];
    openForWriting(file, steps).close();
    const again = openForWriting(file, steps);
    onCleanup(() => again.close());
    expect(again.schemaVersion).toBe(migrations.length + 2);
    expect(again.all("SELECT text FROM notes")).toEqual([{ text: "third" }]);
    expect(again.get("SELECT count(*) AS n FROM jobs")).toEqual({ n: jobCount });
  });

  test("keeps the previous version when a step fails", async () => {
    const { file } = copyStateWithJobs();
    const steps = [...migrations, "CREATE TABLE notes (text TEXT); INSERT INTO nowhere VALUES (1)"];
    expect(() => openForWriting(file, steps)).toThrow(/nowhere/);
    const database = openForWriting(file);
    onCleanup(() => database.close());
    expect(database.schemaVersion).toBe(migrations.length);
    expect(database.all("SELECT name FROM sqlite_master WHERE name = 'notes'")).toEqual([]);
  });

  test.each([{ readOnly: false }, { readOnly: true }])(
    "refuses a newer state and leaves it alone (%o)",
    async (options) => {
      const { folder, file } = copyStateWithJobs();
      const database = new SqliteDatabase(file);
      database.exec("PRAGMA user_version = 99");
      database.close();
      const before = readFileSync(file);
      await expect(new StateManager(folder).open(options)).rejects.toMatchObject({
        code: "state_newer",
        message: expect.stringContaining("version 99"),
      });
      expect(readFileSync(file).equals(before)).toBe(true);
    },
  );

  test("does not change an older state by reading it", async () => {
    const { file } = copyStateWithJobs();
    const steps = [...migrations, "CREATE TABLE notes (text TEXT)"];
    expect(() => openForReading(file, steps)).toThrow(/older herdctl/);
  });
});

describe("damaged state", () => {
  const page = 4096;
  const damages: [name: string, damage: (file: string) => void][] = [
    ["its first bytes overwritten", (file) => overwrite(file, 0, 100)],
    ["its list of tables overwritten", (file) => overwrite(file, 100, page - 100)],
    ["a page of jobs overwritten", (file) => overwrite(file, statSync(file).size - 3 * page, page)],
    [
      "every page after the first overwritten",
      (file) => overwrite(file, page, statSync(file).size - page),
    ],
    ["its second half cut off", (file) => truncateSync(file, statSync(file).size / 2)],
    ["all of it cut off", (file) => truncateSync(file, 0)],
    [
      "another file in its place",
      (file) => writeFileSync(file, "not a database at all\n".repeat(500)),
    ],
    ["a foreign database in its place", (file) => replaceByForeign(file)],
    ["the database removed but not its journal", (file) => removeButJournal(file)],
  ];

  test.each(damages)("refuses a state with %s without changing it", async (_name, damage) => {
    const { folder, file } = copyStateWithJobs();
    damage(file);
    const before = snapshot(folder);
    await expect(new StateManager(folder).open()).rejects.toMatchObject({
      code: "state_damaged",
      message: expect.stringContaining(file),
      hint: expect.stringContaining("herdctl doctor --fix"),
    });
    expect(snapshot(folder)).toEqual(before);
  });

  test.each(damages)(
    "moves a state with %s aside on request without losing data",
    async (_name, damage) => {
      const { folder, file } = copyStateWithJobs();
      damage(file);
      const before = snapshot(folder);
      const state = await open(folder, { moveDamagedAside: true });
      expect(await state.jobs.listUnfinished()).toEqual([]);
      expect(state.damagedCopy).toMatch(/herd\.db\.damaged-/);
      for (const [name, content] of Object.entries(before)) {
        const kept = `${state.damagedCopy}${name.replace("herd.db", "")}`;
        expect(readFileSync(kept, "latin1")).toBe(content);
      }
    },
  );

  /** A process that is killed leaves its latest records in the journal. */
  async function copyStateOfKilledProcess(): Promise<{ folder: string; file: string }> {
    const running = await open(join(tempFolder(), ".herdctl"));
    const ids: string[] = [];
    for (let n = 0; n < 20; n++) {
      const { job } = await running.jobs.create({ agent: "coder", prompt: `job ${n}` });
      mkdirSync(running.jobDir(job.id), { recursive: true });
      ids.push(job.id);
    }
    const folder = join(tempFolder(), ".herdctl");
    cpSync(running.stateDir, folder, { recursive: true });
    return { folder, file: join(folder, "herd.db") };
  }

  const journalDamages: [name: string, damage: (journal: string) => void][] = [
    ["changed in its first bytes", (journal) => overwrite(journal, 0, 32)],
    ["changed in the middle", (journal) => overwrite(journal, statSync(journal).size / 2, 64)],
    ["cut off in the middle", (journal) => truncateSync(journal, statSync(journal).size / 2)],
    ["emptied", (journal) => truncateSync(journal, 0)],
    ["removed", (journal) => rmSync(journal)],
  ];

  test.each(journalDamages)(
    "refuses a state that lost jobs because its journal was %s, every time and without changing it",
    async (_name, damage) => {
      const { folder, file } = await copyStateOfKilledProcess();
      damage(`${file}-wal`);
      const before = snapshot(folder);
      for (const _ of [1, 2]) {
        await expect(new StateManager(folder).open()).rejects.toMatchObject({
          code: "state_damaged",
          message: expect.stringMatching(/has no records? of (\d+ jobs|job-).* folders? exists?/),
          hint: expect.stringContaining(`move the folders out of ${join(folder, "jobs")}`),
        });
      }
      expect(snapshot(folder)).toEqual(before);
    },
  );

  test("refuses to create a database beside folders of earlier jobs", async () => {
    const { folder, file } = await copyStateOfKilledProcess();
    for (const suffix of ["", "-wal", "-shm"]) rmSync(file + suffix);
    await expect(new StateManager(folder).open()).rejects.toMatchObject({ code: "state_damaged" });
    expect(existsSync(file)).toBe(false);
  });

  test("moves job folders without records aside on request, and opens afterwards", async () => {
    const { folder, file } = await copyStateOfKilledProcess();
    rmSync(`${file}-wal`);
    const names = readdirSync(join(folder, "jobs"));
    const state = await open(folder, { moveDamagedAside: true });
    const time = state.damagedCopy?.replace(`${file}.damaged-`, "");
    expect(readdirSync(join(folder, `jobs.damaged-${time}`))).toEqual(names);
    await state.close();
    expect(await (await open(folder)).jobs.listUnfinished()).toEqual([]);
  });

  test("never moves a sound state aside", async () => {
    const { folder } = copyStateWithJobs();
    const state = await open(folder, { moveDamagedAside: true });
    expect(state.damagedCopy).toBeUndefined();
    expect(await state.jobs.listUnfinished()).toHaveLength(jobCount);
  });

  test("reports an invalid record and does not drop it", async () => {
    const { folder, file } = copyStateWithJobs();
    const database = new SqliteDatabase(file);
    database.exec("UPDATE jobs SET record = json_set(record, '$.attempts', 'many')");
    database.close();
    const state = await open(folder);
    await expect(state.jobs.list({ limit: 1 })).rejects.toMatchObject({ code: "state_damaged" });
  });

  function overwrite(file: string, from: number, length: number): void {
    const bytes = readFileSync(file);
    for (let n = from; n < from + length; n++) bytes[n] = (n * 7919) % 251;
    writeFileSync(file, bytes);
  }

  function replaceByForeign(file: string): void {
    rmSync(file);
    const foreign = new SqliteDatabase(file);
    foreign.exec("CREATE TABLE other (x)");
    foreign.close();
  }

  function removeButJournal(file: string): void {
    rmSync(file);
    mkdirSync(join(file, ".."), { recursive: true });
    writeFileSync(`${file}-wal`, "frames");
  }

  function snapshot(folder: string): Record<string, string> {
    const files = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isFile());
    const names = files
      .map(({ name }) => name)
      .filter((name) => !/-shm$|-wal$/.test(name) || sized(name));
    return Object.fromEntries(
      names.map((name) => [name, readFileSync(join(folder, name), "latin1")]),
    );
    function sized(name: string): boolean {
      return name.endsWith("-wal") && statSync(join(folder, name)).size > 0;
    }
  }
});
