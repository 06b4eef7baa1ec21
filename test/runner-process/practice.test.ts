import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { practiseRun } from "../../packages/core/src/runner-process/warm-up.ts";
import { ensureJobDir } from "../../packages/core/src/state/job-dir.ts";
import { eventually, standIn } from "../gateway/upstream.ts";
import { folderWith } from "../support/folder.ts";

test.each(["cli", "sdk"] as const)(
  "what a spare practises with the %s runtime is a run that ends well and leaves nothing",
  async (runtime) => {
    const folder = join(folderWith({}), "practice");
    const api = await standIn((_, response) => response.end());
    let connections = 0;
    api.server.on("connection", () => (connections += 1));
    const report = await practiseRun(folder, runtime, api.url);
    expect(report).toMatchObject({ outcome: { code: "success" }, summary: "Done.", turns: 1 });
    // The stand-in of the CLI answers every request with an empty object.
    const unconfirmed = "this version of Claude Code does not say which settings it applied";
    expect(report?.warnings).toEqual(runtime === "cli" ? [unconfirmed] : []);
    expect(existsSync(folder)).toBe(false);
    // To be ready for a request it connects; to nobody else, and it asks nothing.
    await eventually(() => connections === 1);
    expect(api.seen).toEqual([]);
  },
);

test("a spare whose fleet is dead does not bring back a state that was removed", async () => {
  const around = folderWith({});
  const state = join(around, "state");
  const api = await standIn((_, response) => response.end());
  const practice = practiseRun(join(state, "spares", "1"), "cli", api.url);
  await expect(practice).rejects.toThrow("ENOENT");
  expect(() => ensureJobDir(join(state, "jobs", "job-1"))).toThrow("ENOENT");
  expect(readdirSync(around)).toEqual([]);
});
