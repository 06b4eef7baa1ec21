import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { expect, test } from "vitest";
import { runningFleet } from "./fleet-stage-running.ts";
import { herdctl } from "./herdctl.ts";

const listModules = resolve(import.meta.dirname, "programs/list-modules.mjs");

test("a command that speaks to a fleet loads neither the engine nor any library", async () => {
  const on = await runningFleet({ rules: [{ reply: "done" }] });
  const commands = [
    ["trigger", "cli", "-p", "hello", "--wait"],
    ["status"],
    ["status", "cli"],
    ["jobs"],
    ["pause", "cli"],
  ];
  for (const [index, args] of commands.entries()) {
    const list = join(on.folder, `modules-${index}`);
    const env = { ...on.env, NODE_OPTIONS: `--import=${listModules}`, MODULE_LIST: list };
    expect(await herdctl(args, { cwd: on.folder, env })).toMatchObject({ code: 0 });
    const loaded = readFileSync(list, "utf8").split("\n");
    expect(loaded.some((url) => url.includes("packages/core/dist/light."))).toBe(true);
    expect(loaded.filter((url) => /node_modules|core\/dist\/(index|state)\./.test(url))).toEqual(
      [],
    );
  }
});
