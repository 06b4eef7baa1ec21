import { loadFleet, previewEdit } from "@herdctl/config";
import type { ConfigChange } from "@herdctl/protocol";
import { expect, test } from "vitest";
import { tempFolderWith } from "../support/temp-folder.ts";

const env = { HOME: "/nonexistent", SECRET: "a secret of the tests", SHORT: "secret" };

function preview(changes: ConfigChange[], more: { agent?: string; create?: boolean } = {}) {
  const folder = tempFolderWith({
    "herdctl.yaml": "version: 1\nagents:\n  - path: agents/coder.yaml\n",
    "agents/coder.yaml": "name: coder\n",
  });
  const loaded = loadFleet(`${folder}/herdctl.yaml`, env);
  return previewEdit(loaded, env, { agent: "coder", changes, ...more });
}

const problemsOf = (changes: ConfigChange[]) =>
  preview(changes).problems.map(({ path, message }) => `${path}: ${message}`);

test("edits the file that describes the agent, and reports what the loader reports", () => {
  const { file, before, after, loaded } = preview([{ path: ["max_turns"], value: 7 }]);
  expect(file).toMatch(/agents\/coder\.yaml$/);
  expect([before, after]).toEqual(["name: coder\n", "name: coder\nmax_turns: 7\n"]);
  expect(loaded?.fleet.agents[0]?.max_turns).toBe(7);

  expect(problemsOf([{ path: ["max_turns"], value: "many" }])[0]).toMatch(/^max_turns: /);
  const schedule = ["schedules", "nightly"];
  const cron = [
    { path: [...schedule, "type"], value: "cron" },
    { path: [...schedule, "cron"], value: "61 * * * *" },
    { path: [...schedule, "prompt"], value: "Tidy up." },
  ];
  expect(problemsOf(cron)[0]).toMatch(/^schedules\.nightly\.cron: /);
});

test("refuses fields that run programs on the host or use secrets of the fleet", () => {
  const forbidden: ConfigChange[] = [
    { path: ["hooks", "after_run"], value: [{ type: "shell", command: "id" }] },
    { path: ["schedules", "x", "gate", "command"], value: "id" },
    { path: ["schedules", "x"], value: { type: "interval", every: "1h", gate: { command: "id" } } },
    { path: ["mcp_servers"], value: { a: { command: "id" } } },
    { path: ["plugins"], value: ["/tmp"] },
    { path: ["chat", "slack", "token_env"], value: "SECRET" },
    { path: ["prompts"], value: "expanded" },
  ];
  for (const change of forbidden)
    expect(
      preview([change])
        .problems.map(({ message }) => message)
        .join(),
    ).toContain("cannot be changed here");
  // Removing such a field needs no trust, but it could remove a gate.
  expect(preview([{ path: ["hooks"] }]).problems).not.toEqual([]);
});

test("refuses keys of an entry that say what a file may do", () => {
  const shell = { after_run: [{ type: "shell", command: "id" }] };
  const entries: ConfigChange[][] = [
    [{ path: ["path"], value: "agents/other.yaml" }],
    [
      { path: ["path"], value: "agents/coder.yaml" },
      { path: ["overrides"], value: { hooks: shell } },
    ],
    [{ path: ["trust"], value: "full" }],
    [{ path: ["variables"], value: ["SECRET"] }],
    [{ path: ["workspace_roots"], value: ["/"] }],
    [{ path: ["constructor", "plugins"], value: ["/tmp"] }],
    [{ path: ["__proto__", "plugins"], value: ["/tmp"] }],
  ];
  for (const changes of entries) {
    const { problems, loaded } = preview(changes, { agent: "new", create: true });
    expect(problems[0]?.message).toBe(`${changes[0]?.path[0]} cannot be changed here`);
    expect(loaded).toBeUndefined();
  }
});

test("does not substitute variables in the name of a new agent", () => {
  const { problems, loaded } = preview([], { agent: "${SHORT}", create: true });
  expect(problems[0]?.message).toBe("a variable cannot be used here");
  expect(loaded).toBeUndefined();
});

test("does not substitute variables, which could put a secret into a prompt", () => {
  const { problems, after, loaded } = preview([{ path: ["default_prompt"], value: "${SECRET}" }]);
  expect(problems[0]?.message).toBe("a variable cannot be used here");
  expect(loaded).toBeUndefined();
  expect(after).not.toContain("a secret of the tests");
});

test("adds an agent to the fleet file", () => {
  const { file, after, problems } = preview([{ path: ["description"], value: "Writes" }], {
    agent: "writer",
    create: true,
  });
  expect(problems).toEqual([]);
  expect(file).toMatch(/herdctl\.yaml$/);
  expect(after).toContain("  - name: writer\n    description: Writes\n");
});
