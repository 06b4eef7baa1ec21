import { statSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { StateManager } from "../../packages/core/src/store/state-manager.ts";
import { startTestProgram } from "./test-program.ts";
import { onCleanup, tempFolder } from "./test-stores.ts";

test("keeps every acknowledged record after kill -9 of the writer", async () => {
  const folder = join(tempFolder(), ".herdctl");
  const acknowledged: string[] = [];
  for (const wanted of [1, 40, 300]) {
    const program = startTestProgram("create-jobs", folder);
    let count = 0;
    for await (const id of program.lines) {
      acknowledged.push(id);
      if (++count === wanted) break;
    }
    await program.kill();
  }

  expect(statSync(join(folder, "herd.db-wal")).size).toBeGreaterThan(0);
  const state = await new StateManager(folder).open();
  onCleanup(() => state.close());
  const found = new Map((await state.jobs.listUnfinished()).map((job) => [job.id, job]));
  expect(acknowledged.filter((id) => found.get(id)?.attempts !== 1)).toEqual([]);
});
