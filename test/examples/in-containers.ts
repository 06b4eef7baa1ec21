import { expect } from "vitest";
import type { TestEngine } from "../support/engine.ts";
import { folderWith } from "../support/folder.ts";
import { type Example, rehearsed } from "./example.ts";
import { repository } from "./on-this-machine.ts";

/** Examples with agents in Docker, on the real engine; where they would clone from GitHub, from here. */
export function inContainers(
  engine: TestEngine,
): Record<string, (example: Example) => Promise<void>> {
  const prepare = (example: Example, ...variables: string[]) => {
    const origin = folderWith({ README: "Hello World!\n" }, example.whenOver);
    repository(origin);
    for (const name of variables) example.env[name] = origin;
    example.env.DOCKER_HOST = engine.dockerHost;
  };
  return {
    "cost-optimised": async (example) => {
      prepare(example, "TIDIER_REPO");
      await rehearsed(example);
      const [job] = await example.jobs();
      expect(job).toMatchObject({ runtime: "cli", credential: "subscription", place: "docker" });
      // As root we are not the owner of what lies in there.
      const git = "git -c safe.directory='*' -C workspaces/tidier";
      const { stdout } = await example.shell(
        `${git} log --format=%an:%s -1 refs/herdctl/${job?.id}`,
      );
      expect(stdout).toBe("tidier:End the README with a line\n");
    },

    production: async (example) => {
      prepare(example, "TRIAGE_REPO", "DEPENDENCIES_REPO");
      await rehearsed(example);
      const jobs = await example.jobs();
      expect(jobs.map(({ agent }) => agent)).toEqual(["triage", "dependencies"]);
      for (const job of jobs) {
        expect(job).toMatchObject({ runtime: "sdk", credential: "api_key", place: "docker" });
      }
      expect(example.output(jobs[0])).toContain("Read-only file system");
    },

    mixed: async (example) => {
      prepare(example, "CODER_REPO");
      await rehearsed(example);
      const jobs = await example.jobs();
      expect(jobs.map(({ agent, place, credential }) => [agent, place, credential])).toEqual([
        ["coder", "docker", "subscription"],
        ["reporter", "sdk", "api_key"],
        ["librarian", "sdk", "api_key"],
      ]);
      const { stdout } = await example.shell("cat report.md workspaces/coder/TODO.md");
      expect(stdout).toBe("# This week\n\nNothing broke.\n- say hello\n");
    },
  };
}
