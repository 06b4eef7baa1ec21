import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { expect, test } from "vitest";
import { runHerdctl } from "./run-herdctl.ts";
import { startRunningFleet } from "./running-fleet.ts";

const listModules = resolve(import.meta.dirname, "programs/list-modules.mjs");

test("loads neither the engine nor any library for a command that talks to a fleet", async () => {
  const harness = await startRunningFleet({ rules: [{ reply: "done" }] });
  const { id } = await harness.waitForJob(await harness.triggerJob("cli", "hello"));
  const commands = [
    ["job", id],
    ["trigger", "cli", "-p", "hello", "--wait"],
    ["status"],
    ["status", "cli"],
    ["jobs"],
    ["pause", "cli"],
  ];
  for (const [index, args] of commands.entries()) {
    const list = join(harness.folder, `modules-${index}`);
    const env = { ...harness.env, NODE_OPTIONS: `--import=${listModules}`, MODULE_LIST: list };
    expect(await runHerdctl(args, { cwd: harness.folder, env })).toMatchObject({ code: 0 });
    const loaded = readFileSync(list, "utf8").split("\n");
    expect(loaded.some((url) => url.includes("packages/protocol/dist/index."))).toBe(true);
    expect(
      loaded.filter((url) =>
        /node_modules|(core|config)\/dist\/|protocol\/dist\/schemas\./.test(url),
      ),
    ).toEqual([]);
  }
});
