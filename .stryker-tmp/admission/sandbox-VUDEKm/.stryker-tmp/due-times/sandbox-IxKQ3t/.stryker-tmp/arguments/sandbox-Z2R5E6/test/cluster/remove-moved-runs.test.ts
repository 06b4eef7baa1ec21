import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { removeMovedRuns } from "../../packages/core/src/cluster/remove-moved-runs.ts";
import { StateManager } from "../../packages/core/src/store/state-manager.ts";
import { tempFolderWith } from "../support/temp-folder.ts";

it("removes a moved run's leftovers except what must stay", async () => {
  const state = await new StateManager(join(tempFolderWith({}), ".herdctl")).open();
  onTestFinished(() => state.close());
  const left = {
    "job-2026-01-01-claiming00": ["output.jsonl", "runner-1.json.9854bc207233"],
    "job-2026-01-01-claimed000": ["output.jsonl", "private", "runner-2.json", ".outcome.json.0af1"],
    "job-2026-01-01-ended00000": ["outcome.json", "output.jsonl", "runner-1.json"],
  };
  for (const [id, names] of Object.entries(left)) {
    mkdirSync(state.jobDir(id), { recursive: true });
    for (const name of names) writeFileSync(join(state.jobDir(id), name), "");
  }
  await removeMovedRuns(state, "here");
  expect(Object.keys(left).map((id) => readdirSync(state.jobDir(id)).sort())).toEqual([
    ["output.jsonl"],
    ["output.jsonl", "runner-2.json"],
    ["outcome.json", "output.jsonl", "runner-1.json"],
  ]);
});
