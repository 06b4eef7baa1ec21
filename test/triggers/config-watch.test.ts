import { rmSync } from "node:fs";
import { join } from "node:path";
import type { FleetManager } from "@herdctl/core/internal";
import { describe, expect, test } from "vitest";
import { isWatched, listWatchedFolders } from "../../packages/config/src/watched-folders.ts";
import { waitUntil } from "../support/fleet-child-process.ts";
import { startHarness } from "../support/harness.ts";
import { startFleetInProcess } from "../support/in-process-fleet.ts";
import { tempFolderWith, writeFiles } from "../support/temp-folder.ts";

const fleetYaml = (rest: string) => `version: 1\nfleet: { name: test }\n${rest}`;
const agent = (name: string, description = "as it was") =>
  `name: ${name}\ndescription: ${description}\n`;

async function startFleetIn(files: Record<string, string>) {
  const folder = tempFolderWith(files);
  const fleet = await startFleetInProcess(await startHarness(), join(folder, "herdctl.yaml"));
  return { folder, fleet };
}

async function knownAgents(fleet: FleetManager): Promise<string> {
  const { agents } = await fleet.status();
  return agents
    .map(({ name, description }) => `${name}: ${description}`)
    .sort()
    .join("; ");
}

const waitUntilKnown = (fleet: FleetManager, agents: string) =>
  waitUntil(agents, async () => (await knownAgents(fleet)) === agents);

describe("configuration watcher", () => {
  test("detects new, changed and removed agents in new folders at any depth of a pattern", async () => {
    const { folder, fleet } = await startFleetIn({
      "herdctl.yaml": fleetYaml("agents:\n  - path: agents/**/agent.yaml\n"),
      "agents/first/agent.yaml": agent("first"),
    });
    writeFiles(folder, { "agents/a/b/c/agent.yaml": agent("deep") });
    await waitUntilKnown(fleet, "deep: as it was; first: as it was");
    writeFiles(folder, { "agents/a/b/c/agent.yaml": agent("deep", "changed") });
    await waitUntilKnown(fleet, "deep: changed; first: as it was");
    rmSync(join(folder, "agents/a"), { recursive: true });
    await waitUntilKnown(fleet, "first: as it was");
  });

  test("detects what the patterns of an included fleet match", async () => {
    const { folder, fleet } = await startFleetIn({
      "herdctl.yaml": fleetYaml("fleets:\n  - path: inner\n"),
      "inner/herdctl.yaml": fleetYaml("agents:\n  - path: team/*/agent.yaml\n"),
      "inner/team/one/agent.yaml": agent("one"),
    });
    writeFiles(folder, { "inner/team/two/agent.yaml": agent("two") });
    await waitUntilKnown(fleet, "test.one: as it was; test.two: as it was");
  });

  test("detects the fix of a file that is not in force yet", async () => {
    const { folder, fleet } = await startFleetIn({
      "herdctl.yaml": fleetYaml("agents:\n  - { name: one, description: here }\n"),
    });
    writeFiles(folder, { "new/agent.yaml": `${agent("two")}colour: red\n` });
    const rest = "agents:\n  - { name: one, description: here }\n  - path: new/agent.yaml\n";
    writeFiles(folder, { "herdctl.yaml": fleetYaml(rest) });
    await waitUntil("the mistake", async () => (await fleet.status()).fleet.problem !== null);
    expect(await knownAgents(fleet)).toBe("one: here");
    writeFiles(folder, { "new/agent.yaml": agent("two") });
    await waitUntilKnown(fleet, "one: here; two: as it was");
    expect((await fleet.status()).fleet.problem).toBeNull();
  });
});

describe("watched paths", () => {
  const cases: [pattern: string, watched: string[], not: string[]][] = [
    ["/f/agents/*.yaml", ["/f", "/f/agents"], ["/f/agents/a", "/f/other", "/"]],
    ["/f/agents/*/agent.yaml", ["/f/agents", "/f/agents/a"], ["/f/agents/a/b"]],
    ["/f/agents/**/*.yaml", ["/f/agents", "/f/agents/a/b/c"], ["/f/agents-not"]],
    ["/f/**/agent.yaml", ["/f", "/f/a/b"], ["/f/.herdctl", "/f/a/node_modules/b", "/f/a/.git"]],
    ["/f/{a,b}/x.yaml", ["/f", "/f/a"], ["/g"]],
  ];
  test.each(cases)("covers %s", (pattern, watched, not) => {
    const folders = listWatchedFolders({ files: ["/f/herdctl.yaml"], patterns: [pattern] });
    expect(watched.filter((folder) => !isWatched(folders, folder))).toEqual([]);
    expect(not.filter((folder) => isWatched(folders, folder))).toEqual([]);
  });
});
