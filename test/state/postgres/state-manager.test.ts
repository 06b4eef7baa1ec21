import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { StateManager } from "@herdctl/core";
import { expect, onTestFinished, test } from "vitest";
import { folderWith } from "../../support/folder.ts";
import { testDatabase } from "../../support/postgres.ts";

async function node(store: string, options: { readOnly?: boolean } = {}) {
  const folder = join(folderWith({}), ".herdctl");
  const state = await new StateManager(folder).open({ store, ...options });
  onTestFinished(() => state.close());
  return state;
}

test("nodes with folders of their own see the same jobs, each at home", async () => {
  const store = await testDatabase();
  const [a, b] = [await node(store), await node(store)];
  const { job } = await a.jobs.create({ agent: "one", prompt: "p" });
  const seen = await b.jobs.get(job.id);
  expect(seen).toMatchObject({ id: job.id, agent: "one" });
  expect(seen?.output_file).toContain(b.stateDir);
  expect(readdirSync(a.stateDir)).toEqual([]);
});

test("only a state that is shared has what nodes share", async () => {
  const shared = await node(await testDatabase());
  expect(await shared.shared?.nodes.list()).toEqual([]);
  const alone = await new StateManager(join(folderWith({}), ".herdctl")).open();
  onTestFinished(() => alone.close());
  expect(alone.shared).toBeUndefined();
});

test("whoever only reads finds nothing where nothing is, and makes no folder", async () => {
  const state = await node(await testDatabase(), { readOnly: true });
  expect(await state.jobs.list({ limit: 10 })).toEqual({ jobs: [], next: null });
  expect(existsSync(state.stateDir)).toBe(false);
});

test("a store that is none is refused, and nothing is made", async () => {
  const folder = join(folderWith({}), ".herdctl");
  const opening = new StateManager(folder).open({ store: "postgres://" });
  await expect(opening).rejects.toMatchObject({ code: "store_refused" });
  expect(existsSync(folder)).toBe(false);
});
