import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { loadFleet } from "@herdctl/config";
import { ProblemsError } from "@herdctl/protocol";
import { describe, expect, test } from "vitest";
import {
  agentOf,
  configProblems,
  fleetHeader,
  inlineAgent,
  loadTestFleet,
} from "../support/fleet-config.ts";
import { tempFolderWith } from "../support/temp-folder.ts";

const hook = (words: string) => inlineAgent(`hooks: { after_run: [{ ${words} }] }`);

describe("hooks in the configuration", () => {
  test.each([
    ['type: shell, command: a, when: "cost > 1"', "unknown name `cost`", "cost_usd"],
    ['type: shell, command: a, when: "cost_usd = 1"', "column 10", "=="],
    ["type: shell, command: a, outcomes: [sucess]", "unknown outcome `sucess`", "success"],
    ["type: webhook, url: example.com", "not a usable URL", "https"],
    ["type: webhook, url: 'https://x.example', secret_env: 'whsec_a b'", "variable", "value"],
    ["type: shell, url: 'https://x.example'", "", ""],
  ])("refuses %s with its position", (words, message, hint) => {
    const [problem] = configProblems(hook(words));
    expect(problem?.message).toContain(message);
    expect(problem?.hint).toContain(hint);
    expect(problem?.line).toBeGreaterThan(1);
  });

  test("fills in defaults", () => {
    const agent = agentOf(loadTestFleet(hook("type: webhook, url: 'https://x.example'")), "one");
    expect(agent.hooks.after_run[0]).toMatchObject({
      timeout: 60_000,
      allow_private: false,
      retry: { max_attempts: 5, backoff: 10_000 },
    });
  });
});

/**
 * A fleet with the container agent `boxed`, which may write `../repo`, and an agent on the host.
 */
function fleetWith(host: string, folder = tempFolderWith({})): () => void {
  mkdirSync(join(folder, "fleet"), { recursive: true });
  mkdirSync(join(folder, "repo/bin"), { recursive: true });
  const text = `${fleetHeader}agents:
  - { name: boxed, working_directory: ../repo, docker: { enabled: true, volumes: ["../cache:/cache:rw", "../shared:/shared:ro"] } }
  - name: host
    working_directory: .
${host}
`;
  const path = join(folder, "fleet/herdctl.yaml");
  return () => void loadFleet(writeExecutable(path, text), {});
}

function writeExecutable(path: string, text: string): string {
  writeFileSync(path, text);
  return path;
}

function problemsIn(load: () => void): { path?: string; message: string }[] {
  try {
    load();
  } catch (error) {
    if (error instanceof ProblemsError) return error.problems;
    throw error;
  }
  return [];
}

const shell = (command: string) =>
  `    hooks: { after_run: [{ type: shell, command: ${JSON.stringify(command)} }] }`;

describe("commands that run on the host", () => {
  test.each([
    "../repo/notify.sh",
    "sh ../repo/bin/notify.sh now",
    "cd ../repo && ./notify.sh",
    "node '../repo/x.js'",
    ". ../cache/env; true",
    "FILE=../repo/a ./run.sh",
    "./run.sh < ../repo/a",
  ])("refuses a file that a container may write: %s", (command) => {
    const [problem] = problemsIn(fleetWith(shell(command)));
    expect(problem).toMatchObject({ path: "hooks.after_run.0.command" });
    expect(problem?.message).toContain("the container of `boxed` could write");
  });

  test("refuses such a file behind a link and in a gate", () => {
    const folder = tempFolderWith({});
    mkdirSync(join(folder, "fleet"), { recursive: true });
    symlinkSync("../repo", join(folder, "fleet/tools"));
    expect(problemsIn(fleetWith(shell("./tools/notify.sh"), folder))).toHaveLength(1);
    const gate = "{ command: ../repo/gate.sh }";
    const schedule = `    schedules: { s: { type: interval, every: 5m, prompt: x, gate: ${gate} } }`;
    expect(problemsIn(fleetWith(schedule))).toMatchObject([{ path: "schedules.s.gate.command" }]);
  });

  test.each(["./notify.sh", "../shared/notify.sh", "curl https://x.example/repo", "echo repo"])(
    "accepts any other command: %s",
    (command) => {
      expect(problemsIn(fleetWith(shell(command)))).toEqual([]);
    },
  );

  test("lets only the fleet file decide who gets a token", () => {
    const files = (entry: string) => ({
      "herdctl.yaml": `${fleetHeader}agents: [${entry}]\n`,
      "agents/one.yaml": `name: one
working_directory: ../repo
docker: { enabled: true }
work_source: { type: github, repo: o/r, labels: [a] }
`,
    });
    expect(configProblems(files("{ path: agents/one.yaml }"))).toMatchObject([
      { path: "work_source" },
    ]);
    expect(() => loadTestFleet(files("{ path: agents/one.yaml, trust: full }"))).not.toThrow();
  });
});
