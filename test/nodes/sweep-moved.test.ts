import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { sweepMoved } from "../../packages/core/src/fleet/nodes/sweep-moved.ts";
import { StateManager } from "../../packages/core/src/state/state-manager.ts";
import { folderWith } from "../support/folder.ts";

it("what a runner left that died here goes once its job is elsewhere, and what is to stay stays", async () => {
  const state = await new StateManager(join(folderWith({}), ".herdctl")).open();
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
  await sweepMoved(state, "here");
  expect(Object.keys(left).map((id) => readdirSync(state.jobDir(id)).sort())).toEqual([
    ["output.jsonl"],
    ["output.jsonl", "runner-2.json"],
    ["outcome.json", "output.jsonl", "runner-1.json"],
  ]);
});
