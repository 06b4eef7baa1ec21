import {
  copyFileSync,
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
import { makeStores } from "../../packages/core/src/state/sql/stores.ts";
import { Database } from "../../packages/core/src/state/sqlite/database.ts";
import { migrations } from "../../packages/core/src/state/sqlite/migrations.ts";
import { openForReading, openForWriting } from "../../packages/core/src/state/sqlite/open.ts";
import { StateManager } from "../../packages/core/src/state/state-manager.ts";
import { onCleanup, tempFolder } from "./support.ts";

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

function stateWithJobs(): { folder: string; file: string } {
  const folder = join(tempFolder(), ".herdctl");
  const file = join(folder, "herd.db");
  mkdirSync(folder);
  copyFileSync(join(template, "herd.db"), file);
  return { folder, file };
}

const modeOf = (path: string) => (statSync(path).mode & 0o777).toString(8);

describe("a new state", () => {
  test("is readable by its owner only, whatever the umask", async () => {
    const umask = process.umask(0);
    onCleanup(() => process.umask(umask));
    const folder = join(tempFolder(), "deep", ".herdctl");
    const state = await open(folder);
    await state.jobs.create({ agent: "coder", prompt: "hi" });
    expect(modeOf(folder)).toBe("700");
    const modes = readdirSync(folder).map((name) => [name, modeOf(join(folder, name))]);
    expect(modes).toEqual([
      ["herd.db", "600"],
      ["herd.db-shm", "600"],
      ["herd.db-wal", "600"],
    ]);
  });

  test("is WAL, fully synchronous and checks foreign keys", async () => {
    const file = join(tempFolder(), "herd.db");
    const database = openForWriting(file);
    onCleanup(() => database.close());
    expect(database.get("PRAGMA journal_mode")).toEqual({ journal_mode: "wal" });
    expect(database.get("PRAGMA synchronous")).toEqual({ synchronous: 2 });
    expect(database.get("PRAGMA foreign_keys")).toEqual({ foreign_keys: 1 });
  });

  test("that only is read shows nothing and leaves no trace", async () => {
    const folder = join(tempFolder(), ".herdctl");
    const state = await open(folder, { readOnly: true });
    expect(await state.jobs.list({ limit: 10 })).toEqual({ jobs: [], next: null });
    expect(existsSync(folder)).toBe(false);
  });

  test("where no folder can be made is a clear error", async () => {
    const blocker = join(tempFolder(), "file");
    writeFileSync(blocker, "");
    const refused = new StateManager(join(blocker, ".herdctl")).open();
    await expect(refused).rejects.toMatchObject({ code: "state_unavailable", exitCode: 4 });
  });
});

test("what a process left that died while it made a database is gone with the next start", async () => {
  const { folder } = stateWithJobs();
  const dead = ["herd.db.new-999999999", "herd.db.new-999999999-wal"];
  for (const name of dead) writeFileSync(join(folder, name), "half");
  writeFileSync(join(folder, `herd.db.new-${process.pid}`), "of somebody who lives");
  await open(folder);
  expect(readdirSync(folder).filter((name) => name.includes("new-"))).toEqual([
    `herd.db.new-${process.pid}`,
  ]);
});

describe("reading", () => {
  test("sees what the writer writes while both are open", async () => {
    const { folder } = stateWithJobs();
    const writer = await open(folder);
    const reader = await open(folder, { readOnly: true });
    await writer.jobs.create({ agent: "coder", prompt: "second" });
    expect((await reader.jobs.list({ limit: 1000 })).jobs).toHaveLength(jobCount + 1);
  });

  test("cannot write", async () => {
    const { folder } = stateWithJobs();
    const reader = await open(folder, { readOnly: true });
    await expect(reader.jobs.create({ agent: "a", prompt: "p" })).rejects.toMatchObject({
      code: "state_unavailable",
    });
  });

  test("leaves the next start of the writer unharmed", async () => {
    const { folder } = stateWithJobs();
    const reader = await open(folder, { readOnly: true });
    const writer = await open(folder);
    await writer.close();
    await reader.close();
    expect(await (await open(folder)).jobs.unfinished()).toHaveLength(jobCount);
  });
});

test("a full disk refuses new work, keeps the old, and is forgiven once there is room", async () => {
  const { file } = stateWithJobs();
  const database = openForWriting(file);
  onCleanup(() => database.close());
  const { jobs } = makeStores(database, { outputFile: () => "output.jsonl" });
  const large = { agent: "coder", prompt: "x".repeat(100_000), idempotency_key: "large" };
  // Stands for a disk with no room: SQLite gives the same error from the same place.
  database.get("PRAGMA max_page_count = 1");
  await expect(jobs.create(large)).rejects.toMatchObject({
    code: "state_unavailable",
    message: expect.stringContaining("the disk is full"),
  });
  expect(await jobs.unfinished()).toHaveLength(jobCount);
  database.get("PRAGMA max_page_count = 100000");
  expect((await jobs.create(large)).created).toBe(true);
  expect(await jobs.unfinished()).toHaveLength(jobCount + 1);
});

describe("versions", () => {
  test("a state of the first version is brought up to date with all it holds", async () => {
    const folder = tempFolder();
    copyFileSync(new URL("./fixtures/v1.db", import.meta.url), join(folder, "herd.db"));
    const state = await open(folder);
    const { jobs } = await state.jobs.list({ limit: 10 });
    expect(jobs.map((job) => [job.agent, job.status, job.attempts])).toEqual([
      ["writer", "pending", 0],
      ["coder", "completed", 1],
    ]);
    expect(jobs[1]?.prompt).toBe("Fix the \0 oldest issue. 🐑");
    expect(await state.jobs.attempts(jobs[1]?.id ?? "")).toMatchObject([{ cost_usd: 0.25 }]);
    expect(await state.sessions.latest("coder", "cli")).toMatchObject({ cost_total_usd: 1.5 });
    expect(await state.approvals.open()).toMatchObject([{ tool: "Bash" }]);
    expect(jobs).toMatchObject([
      { due_at: null, crashes: 0 },
      { due_at: null, crashes: 0 },
    ]);
    expect(await state.jobs.snapshot()).toMatchObject([{ agent: "writer", status: "pending" }]);
    const ever = { by: "agent", since: "2000-01-01", until: "2100-01-01" } as const;
    expect(await state.budgets.costs(ever)).toMatchObject([{ agent: "coder", usd: 0.25 }]);
    expect(await state.pauses.list()).toEqual([]);
  });

  test("no letter of a record changes on the way up from the first version", () => {
    const file = join(tempFolder(), "herd.db");
    const texts = ["\0", "\ud800", "\u2028", "🐑", '"\\/', "e\u0301", "\uffff"];
    const record = {
      agent: "a",
      status: "pending",
      created_at: "2030",
      prompt: texts.join(),
      n: 1e-7,
    };
    const first = openForWriting(file, migrations.slice(0, 1));
    first.run("INSERT INTO jobs (id, record) VALUES ('one', ?)", JSON.stringify(record));
    first.close();
    const database = openForWriting(file);
    onCleanup(() => database.close());
    const kept = JSON.parse(String(database.get("SELECT record FROM jobs")?.record));
    expect(kept).toMatchObject(record);
  });

  test("each further step runs once, in order, and keeps what was there", async () => {
    const { file } = stateWithJobs();
    const steps = [
      ...migrations,
      "CREATE TABLE notes (text TEXT)",
      "INSERT INTO notes VALUES ('third')",
    ];
    openForWriting(file, steps).close();
    const again = openForWriting(file, steps);
    onCleanup(() => again.close());
    expect(again.version).toBe(migrations.length + 2);
    expect(again.all("SELECT text FROM notes")).toEqual([{ text: "third" }]);
    expect(again.get("SELECT count(*) AS n FROM jobs")).toEqual({ n: jobCount });
  });

  test("a step that fails leaves the version before it", async () => {
    const { file } = stateWithJobs();
    const steps = [...migrations, "CREATE TABLE notes (text TEXT); INSERT INTO nowhere VALUES (1)"];
    expect(() => openForWriting(file, steps)).toThrow(/nowhere/);
    const database = openForWriting(file);
    onCleanup(() => database.close());
    expect(database.version).toBe(migrations.length);
    expect(database.all("SELECT name FROM sqlite_master WHERE name = 'notes'")).toEqual([]);
  });

  test.each([{ readOnly: false }, { readOnly: true }])(
    "a newer state is refused and left alone (%o)",
    async (options) => {
      const { folder, file } = stateWithJobs();
      const database = new Database(file);
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

  test("an older state is not changed by reading it", async () => {
    const { file } = stateWithJobs();
    const steps = [...migrations, "CREATE TABLE notes (text TEXT)"];
    expect(() => openForReading(file, steps)).toThrow(/older herdctl/);
  });
});

describe("a damaged state", () => {
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
    ["it removed but its journal there", (file) => removeButJournal(file)],
  ];

  test.each(damages)("with %s is refused, nothing changed", async (_name, damage) => {
    const { folder, file } = stateWithJobs();
    damage(file);
    const before = snapshot(folder);
    await expect(new StateManager(folder).open()).rejects.toMatchObject({
      code: "state_damaged",
      message: expect.stringContaining(file),
      hint: expect.stringContaining("set"),
    });
    expect(snapshot(folder)).toEqual(before);
  });

  test.each(damages)("with %s is set aside when asked for, nothing lost", async (_name, damage) => {
    const { folder, file } = stateWithJobs();
    damage(file);
    const before = snapshot(folder);
    const state = await open(folder, { setAsideDamaged: true });
    expect(await state.jobs.unfinished()).toEqual([]);
    expect(state.setAside).toMatch(/herd\.db\.damaged-/);
    for (const [name, content] of Object.entries(before)) {
      const kept = `${state.setAside}${name.replace("herd.db", "")}`;
      expect(readFileSync(kept, "latin1")).toBe(content);
    }
  });

  test("a sound one is never set aside", async () => {
    const { folder } = stateWithJobs();
    const state = await open(folder, { setAsideDamaged: true });
    expect(state.setAside).toBeUndefined();
    expect(await state.jobs.unfinished()).toHaveLength(jobCount);
  });

  test("a record that no longer makes sense is reported, not dropped", async () => {
    const { folder, file } = stateWithJobs();
    const database = new Database(file);
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
    const foreign = new Database(file);
    foreign.exec("CREATE TABLE other (x)");
    foreign.close();
  }

  function removeButJournal(file: string): void {
    rmSync(file);
    mkdirSync(join(file, ".."), { recursive: true });
    writeFileSync(`${file}-wal`, "frames");
  }

  function snapshot(folder: string): Record<string, string> {
    const names = readdirSync(folder).filter((name) => !/-shm$|-wal$/.test(name) || sized(name));
    return Object.fromEntries(
      names.map((name) => [name, readFileSync(join(folder, name), "latin1")]),
    );
    function sized(name: string): boolean {
      return name.endsWith("-wal") && statSync(join(folder, name)).size > 0;
    }
  }
});
