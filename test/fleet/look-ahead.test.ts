import { rmSync } from "node:fs";
import { join } from "node:path";
import { StateManager } from "@herdctl/core";
import { afterEach, expect, test, vi } from "vitest";
import { LookAhead } from "../../packages/core/src/fleet/look-ahead.ts";
import { claudeBinary } from "../support/claude.ts";
import { agentOf, inlineAgent, load } from "../support/fleet.ts";
import { folderWith } from "../support/folder.ts";

afterEach(() => vi.useRealTimers());

/** A fleet of one agent that can be read anew. */
function fleet(yaml = "") {
  const folder = folderWith({ "work/README.md": "" });
  const cwd = join(folder, "work");
  const claude = `claude_path: ${claudeBinary("325")}\n`;
  const read = () => {
    const { "herdctl.yaml": file } = inlineAgent(yaml || `working_directory: ${cwd}`);
    return load({ "herdctl.yaml": `${file}${claude}` });
  };
  let current = read();
  const ahead = new LookAhead({
    state: new StateManager(join(folder, "state")),
    fleet: () => current.fleet,
    environment: () => ({ PATH: process.env.PATH }),
  });
  const reload = () => {
    current = read();
  };
  return { ahead, cwd, reload, agent: () => agentOf(current, "one") };
}

test("what is seen while a trigger is recorded serves one job of that agent", async () => {
  const { ahead, cwd, agent } = fleet();
  ahead.begin("one");
  expect(await ahead.take(agent())).toMatchObject({
    workspace: { kind: "ready", path: cwd },
    claude: { kind: "found", path: claudeBinary("325"), version: "2.1.325" },
  });
  expect(await ahead.take(agent())).toBeUndefined();
});

test("what lacked then is looked for again when the run is prepared", async () => {
  const { ahead, cwd, agent } = fleet();
  rmSync(cwd, { recursive: true });
  ahead.begin("one");
  expect(await ahead.take(agent())).toBeUndefined();
});

test("nothing that was seen serves an agent that has been read anew, or a later job", async () => {
  const { ahead, reload, agent } = fleet();
  ahead.begin("one");
  reload();
  expect(await ahead.take(agent())).toBeUndefined();

  vi.useFakeTimers({ toFake: ["performance"] });
  ahead.begin("one");
  vi.advanceTimersByTime(1_001);
  expect(await ahead.take(agent())).toBeUndefined();
});

test("nobody looks ahead for an agent that there is not, or makes a clone for a job that is not there", async () => {
  const { ahead } = fleet();
  ahead.begin("nobody");
  const cloning = fleet("working_directory: { root: clones, repo: https://example.com/x.git }");
  cloning.ahead.begin("one");
  expect(await cloning.ahead.take(cloning.agent())).toBeUndefined();
});
