import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { StateManager } from "@herdctl/core/internal";
import { expect, onTestFinished, test } from "vitest";
import { createTestDatabase } from "../../support/postgres.ts";
import { tempFolderWith } from "../../support/temp-folder.ts";

async function openNode(store: string, options: { readOnly?: boolean } = {}) {
  const folder = join(tempFolderWith({}), ".herdctl");
  const state = await new StateManager(folder).open({ store, ...options });
  onTestFinished(() => state.close());
  return state;
}

test("shares jobs between nodes with separate folders", async () => {
  const store = await createTestDatabase();
  const [a, b] = [await openNode(store), await openNode(store)];
  const { job } = await a.jobs.create({ agent: "one", prompt: "p" });
  const seen = await b.jobs.get(job.id);
  expect(seen).toMatchObject({ id: job.id, agent: "one" });
  expect(seen?.output_file).toContain(b.stateDir);
  expect(readdirSync(a.stateDir)).toEqual(["docker-sessions"]);
});

test("has node stores only for a shared state", async () => {
  const shared = await openNode(await createTestDatabase());
  expect(await shared.shared?.nodes.list()).toEqual([]);
  const alone = await new StateManager(join(tempFolderWith({}), ".herdctl")).open();
  onTestFinished(() => alone.close());
  expect(alone.shared).toBeUndefined();
});

test("finds nothing without a folder when opened for reading, and creates none", async () => {
  const state = await openNode(await createTestDatabase(), { readOnly: true });
  expect(await state.jobs.list({ limit: 10 })).toEqual({ jobs: [], next_cursor: null });
  expect(existsSync(state.stateDir)).toBe(false);
});

test("refuses an invalid store and creates nothing", async () => {
  const folder = join(tempFolderWith({}), ".herdctl");
  const opening = new StateManager(folder).open({ store: "postgres://" });
  await expect(opening).rejects.toMatchObject({ code: "store_refused" });
  expect(existsSync(folder)).toBe(false);
});
