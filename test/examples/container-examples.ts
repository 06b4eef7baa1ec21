import { expect } from "vitest";
import type { TestEngine } from "../support/docker-engine.ts";
import { tempFolderWith } from "../support/temp-folder.ts";
import { createRepository } from "./host-examples.ts";
import { type Example, runRehearsed } from "./run-example.ts";

/**
 * Examples with agents in Docker, on the real engine; they clone from here instead of from GitHub.
 */
export function containerExamples(
  engine: TestEngine,
): Record<string, (example: Example) => Promise<void>> {
  const prepare = (example: Example, ...variables: string[]) => {
    const origin = tempFolderWith({ README: "Hello World!\n" }, example.onCleanup);
    createRepository(origin);
    for (const name of variables) example.env[name] = origin;
    example.env.DOCKER_HOST = engine.dockerHost;
  };
  return {
    "cost-optimized": async (example) => {
      prepare(example, "TIDIER_REPO");
      await runRehearsed(example);
      const [job] = await example.jobs();
      expect(job).toMatchObject({
        runtime: "cli",
        credential: "subscription",
        session_home: "docker",
      });
      // The tests run as root, who does not own these files.
      const git = "git -c safe.directory='*' -C workspaces/tidier";
      const { stdout } = await example.shell(
        `${git} log --format=%an:%s -1 refs/herdctl/${job?.id}`,
      );
      expect(stdout).toBe("tidier:End the README with a line\n");
    },

    production: async (example) => {
      prepare(example, "TRIAGE_REPO", "DEPENDENCIES_REPO");
      await runRehearsed(example);
      const jobs = await example.jobs();
      expect(jobs.map(({ agent }) => agent)).toEqual(["triage", "dependencies"]);
      for (const job of jobs) {
        expect(job).toMatchObject({
          runtime: "sdk",
          credential: "api_key",
          session_home: "docker",
        });
      }
      expect(example.output(jobs[0])).toContain("Read-only file system");
    },

    mixed: async (example) => {
      prepare(example, "CODER_REPO");
      await runRehearsed(example);
      const jobs = await example.jobs();
      expect(
        jobs.map(({ agent, session_home: place, credential }) => [agent, place, credential]),
      ).toEqual([
        ["coder", "docker", "subscription"],
        ["reporter", "sdk", "api_key"],
        ["librarian", "sdk", "api_key"],
      ]);
      const { stdout } = await example.shell("cat report.md workspaces/coder/TODO.md");
      expect(stdout).toBe("# This week\n\nNothing broke.\n- say hello\n");
    },
  };
}
