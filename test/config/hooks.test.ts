import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { loadFleet, ProblemsError } from "@herdctl/core";
import { describe, expect, test } from "vitest";
import { agentOf, fleetHead, inlineAgent, load, problemsOf } from "../support/fleet.ts";
import { folderWith } from "../support/folder.ts";

const hook = (words: string) => inlineAgent(`hooks: { after_run: [{ ${words} }] }`);

describe("hooks in the configuration", () => {
  test.each([
    ['type: shell, command: a, when: "cost > 1"', "nothing is known of `cost`", "cost_usd"],
    ['type: shell, command: a, when: "cost_usd = 1"', "column 10", "=="],
    ["type: shell, command: a, on: [sucess]", "there is no outcome `sucess`", "success"],
    ["type: webhook, url: example.com", "not a usable URL", "https"],
    ["type: webhook, url: 'https://x.example', secret_env: 'whsec_a b'", "variable", "content"],
    ["type: shell, url: 'https://x.example'", "", ""],
  ])("%s is refused with its place", (words, message, hint) => {
    const [problem] = problemsOf(hook(words));
    expect(problem?.message).toContain(message);
    expect(problem?.hint).toContain(hint);
    expect(problem?.line).toBeGreaterThan(1);
  });

  test("what is not said has its default", () => {
    const agent = agentOf(load(hook("type: webhook, url: 'https://x.example'")), "one");
    expect(agent.hooks.after_run[0]).toMatchObject({
      timeout: 60_000,
      allow_private: false,
      retry: { max_attempts: 5, backoff: 10_000 },
    });
  });
});

/** A fleet whose agent `boxed` may write `../repo` from its container, and one on the host. */
function fleetWith(host: string, folder = folderWith({})): () => void {
  mkdirSync(join(folder, "fleet"), { recursive: true });
  mkdirSync(join(folder, "repo/bin"), { recursive: true });
  const text = `${fleetHead}agents:
  - { name: boxed, working_directory: ../repo, docker: { enabled: true, volumes: ["../cache:/cache:rw", "../shared:/shared:ro"] } }
  - name: host
    working_directory: .
${host}
`;
  const path = join(folder, "fleet/herdctl.yaml");
  return () => void loadFleet(writeOut(path, text), {});
}

function writeOut(path: string, text: string): string {
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

describe("what the host runs", () => {
  test.each([
    "../repo/notify.sh",
    "sh ../repo/bin/notify.sh now",
    "cd ../repo && ./notify.sh",
    "node '../repo/x.js'",
    ". ../cache/env; true",
    "FILE=../repo/a ./run.sh",
    "./run.sh < ../repo/a",
  ])("is no file that a container may write: %s", (command) => {
    const [problem] = problemsIn(fleetWith(shell(command)));
    expect(problem).toMatchObject({ path: "hooks.after_run.0.command" });
    expect(problem?.message).toContain("the container of `boxed` could write");
  });

  test("not through a link either, and not for a gate", () => {
    const folder = folderWith({});
    mkdirSync(join(folder, "fleet"), { recursive: true });
    symlinkSync("../repo", join(folder, "fleet/tools"));
    expect(problemsIn(fleetWith(shell("./tools/notify.sh"), folder))).toHaveLength(1);
    const gate = "{ command: ../repo/gate.sh }";
    const schedule = `    schedules: { s: { type: interval, every: 5m, prompt: x, gate: ${gate} } }`;
    expect(problemsIn(fleetWith(schedule))).toMatchObject([{ path: "schedules.s.gate.command" }]);
  });

  test.each(["./notify.sh", "../shared/notify.sh", "curl https://x.example/repo", "echo repo"])(
    "anything else is: %s",
    (command) => {
      expect(problemsIn(fleetWith(shell(command)))).toEqual([]);
    },
  );

  test("who gets a token is for the fleet file to say", () => {
    const files = (entry: string) => ({
      "herdctl.yaml": `${fleetHead}agents: [${entry}]\n`,
      "agents/one.yaml": `name: one
working_directory: ../repo
docker: { enabled: true }
work_source: { type: github, repo: o/r, labels: [a] }
`,
    });
    expect(problemsOf(files("{ path: agents/one.yaml }"))).toMatchObject([{ path: "work_source" }]);
    expect(() => load(files("{ path: agents/one.yaml, trust: full }"))).not.toThrow();
  });
});
