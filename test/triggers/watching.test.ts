import { rmSync } from "node:fs";
import { join } from "node:path";
import type { FleetManager } from "@herdctl/core";
import { describe, expect, test } from "vitest";
import { isWatched, watchedFolders } from "../../packages/core/src/config/watched-folders.ts";
import { startFleet } from "../support/fleet-process.ts";
import { until } from "../support/fleet-program.ts";
import { folderWith, writeFiles } from "../support/folder.ts";
import { stage } from "../support/stage.ts";

const fleetOf = (rest: string) => `version: 1\nfleet: { name: test }\n${rest}`;
const agent = (name: string, description = "as it was") =>
  `name: ${name}\ndescription: ${description}\n`;

async function fleetIn(files: Record<string, string>) {
  const folder = folderWith(files);
  const fleet = await startFleet(await stage(), join(folder, "herdctl.yaml"));
  return { folder, fleet };
}

async function known(fleet: FleetManager): Promise<string> {
  const { agents } = await fleet.status();
  return agents
    .map(({ name, description }) => `${name}: ${description}`)
    .sort()
    .join("; ");
}

const untilKnown = (fleet: FleetManager, agents: string) =>
  until(agents, async () => (await known(fleet)) === agents);

describe("a running fleet notices", () => {
  test("agents in new folders, however deep a pattern looks, when they change and when they go", async () => {
    const { folder, fleet } = await fleetIn({
      "herdctl.yaml": fleetOf("agents:\n  - path: agents/**/agent.yaml\n"),
      "agents/first/agent.yaml": agent("first"),
    });
    writeFiles(folder, { "agents/a/b/c/agent.yaml": agent("deep") });
    await untilKnown(fleet, "deep: as it was; first: as it was");
    writeFiles(folder, { "agents/a/b/c/agent.yaml": agent("deep", "changed") });
    await untilKnown(fleet, "deep: changed; first: as it was");
    rmSync(join(folder, "agents/a"), { recursive: true });
    await untilKnown(fleet, "first: as it was");
  });

  test("what the patterns of an included fleet find", async () => {
    const { folder, fleet } = await fleetIn({
      "herdctl.yaml": fleetOf("fleets:\n  - path: inner\n"),
      "inner/herdctl.yaml": fleetOf("agents:\n  - path: team/*/agent.yaml\n"),
      "inner/team/one/agent.yaml": agent("one"),
    });
    writeFiles(folder, { "inner/team/two/agent.yaml": agent("two") });
    await untilKnown(fleet, "test.one: as it was; test.two: as it was");
  });

  test("that a mistake is mended in a file which is not in force yet", async () => {
    const { folder, fleet } = await fleetIn({
      "herdctl.yaml": fleetOf("agents:\n  - { name: one, description: here }\n"),
    });
    writeFiles(folder, { "new/agent.yaml": `${agent("two")}colour: red\n` });
    const rest = "agents:\n  - { name: one, description: here }\n  - path: new/agent.yaml\n";
    writeFiles(folder, { "herdctl.yaml": fleetOf(rest) });
    await until("the mistake", async () => (await fleet.status()).fleet.problem !== null);
    expect(await known(fleet)).toBe("one: here");
    writeFiles(folder, { "new/agent.yaml": agent("two") });
    await untilKnown(fleet, "one: here; two: as it was");
    expect((await fleet.status()).fleet.problem).toBeNull();
  });
});

describe("what is watched", () => {
  const cases: [pattern: string, watched: string[], not: string[]][] = [
    ["/f/agents/*.yaml", ["/f", "/f/agents"], ["/f/agents/a", "/f/other", "/"]],
    ["/f/agents/*/agent.yaml", ["/f/agents", "/f/agents/a"], ["/f/agents/a/b"]],
    ["/f/agents/**/*.yaml", ["/f/agents", "/f/agents/a/b/c"], ["/f/agents-not"]],
    ["/f/**/agent.yaml", ["/f", "/f/a/b"], ["/f/.herdctl", "/f/a/node_modules/b", "/f/a/.git"]],
    ["/f/{a,b}/x.yaml", ["/f", "/f/a"], ["/g"]],
  ];
  test.each(cases)("for %s", (pattern, watched, not) => {
    const folders = watchedFolders({ files: ["/f/herdctl.yaml"], patterns: [pattern] });
    expect(watched.filter((folder) => !isWatched(folders, folder))).toEqual([]);
    expect(not.filter((folder) => isWatched(folders, folder))).toEqual([]);
  });
});
