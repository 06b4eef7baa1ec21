import { mkdirSync, symlinkSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { findFleetFile, loadFleet } from "@herdctl/core";
import { expect, test } from "vitest";
import { agentOf, fleetHead, inlineAgent, load, problemsOf } from "../support/fleet.ts";
import { folderWith } from "../support/folder.ts";

test("a fleet file is found from the working directory upwards", () => {
  const folder = folderWith({ "herdctl.yaml": fleetHead, "a/b/.keep": "" });
  expect(findFleetFile({ cwd: join(folder, "a/b") })).toBe(join(folder, "herdctl.yaml"));
  expect(findFleetFile({ cwd: "/", config: folder })).toBe(join(folder, "herdctl.yaml"));
});

test("a fleet file that is not there is a clear error", () => {
  const folder = folderWith({ ".keep": "" });
  expect(() => findFleetFile({ cwd: folder })).toThrow(/no herdctl.yaml/);
  expect(() => findFleetFile({ cwd: folder, config: "nope.yaml" })).toThrow(/does not exist/);
});

test("agents come by path, by glob and inline, in the fleet's order of files", () => {
  const loaded = load({
    "herdctl.yaml": `${fleetHead}agents:
  - path: agents/*.yaml
  - name: inline
`,
    "agents/b.yaml": "name: b",
    "agents/a.yaml": "name: a",
  });
  expect(loaded.fleet.agents.map((agent) => agent.name).sort()).toEqual(["a", "b", "inline"]);
});

test("defaults < agent file < overrides, block by block", () => {
  const loaded = load({
    "herdctl.yaml": `${fleetHead}defaults:
  model: from-defaults
  max_turns: 5
  docker: { memory: 1g, cpus: 2 }
agents:
  - path: agents/*.yaml
  - path: agents/one.yaml
    overrides: { max_turns: 9, docker: { pids_limit: 300 } }
`,
    "agents/one.yaml": "name: one\nmodel: from-agent\nmax_turns: 7\ndocker: { memory: 512m }",
  });
  const one = agentOf(loaded, "one");
  expect(one).toMatchObject({ model: "from-agent", max_turns: 9 });
  expect(one.docker).toMatchObject({
    memory: 512 * 1024 ** 2,
    cpus: 2,
    pids_limit: 300,
    network: "none",
  });
});

test("a file matched by a glob and by its path is one agent", () => {
  const loaded = load({
    "herdctl.yaml": `${fleetHead}agents: [{ path: "*.agent.yaml" }, { path: one.agent.yaml }]`,
    "one.agent.yaml": "name: one",
  });
  expect(loaded.fleet.agents).toHaveLength(1);
});

test("paths are relative to the file they were written in", () => {
  const loaded = load({
    "herdctl.yaml": `${fleetHead}claude_path: ./bin/claude
agents:
  - path: agents/one.yaml
    overrides: { docker: { volumes: ["./cache:/cache:rw"] }, plugins: [./plugin] }
  - path: agents/two.yaml
`,
    "agents/one.yaml": "name: one\nworking_directory: ../repo",
    "agents/two.yaml":
      "name: two\nworking_directory: { repo: https://example.com/r.git, root: ./clones, clone_depth: 1 }",
  });
  const { dir } = loaded.fleet;
  const one = agentOf(loaded, "one");
  expect(loaded.fleet.claude_path).toBe(join(dir, "bin/claude"));
  expect(one.working_directory).toEqual({ path: join(dir, "repo") });
  expect(one.docker.volumes).toEqual([
    { source: join(dir, "cache"), target: "/cache", mode: "rw" },
  ]);
  expect(one.plugins).toEqual([join(dir, "plugin")]);
  expect(agentOf(loaded, "two").working_directory).toEqual({
    path: join(dir, "agents/clones/two"),
    clone: { repo: "https://example.com/r.git", branch: undefined, depth: 1 },
  });
});

test("an agent without a working directory works in the fleet's folder; ~ is the home folder", () => {
  const loaded = load({
    "herdctl.yaml": `${fleetHead}agents: [{ path: agents/a.yaml }, { name: b, working_directory: ~/code }]`,
    "agents/a.yaml": "name: a",
  });
  expect(agentOf(loaded, "a").working_directory.path).toBe(loaded.fleet.dir);
  expect(agentOf(loaded, "b").working_directory.path).toBe(join(homedir(), "code"));
});

test("durations, sizes and short forms are read into what the program works with", () => {
  const agent = agentOf(
    load(
      inlineAgent("runtime: cli\ntimeouts: { stall: 1h30m, wall: 2d }\nretry: { backoff: 500ms }"),
    ),
    "one",
  );
  expect(agent.runtime).toEqual({ type: "cli", stream: "stdout" });
  expect(agent.timeouts).toEqual({ start: 60_000, stall: 5_400_000, wall: 172_800_000 });
  expect(agent.retry.backoff).toBe(500);
  expect(agentOf(load(inlineAgent("runtime: { type: cli }")), "one").runtime.type).toBe("cli");
  expect(agentOf(load(inlineAgent("description: x")), "one").runtime.type).toBe("sdk");
});

test("variables are filled in anywhere, with YAML's typing, defaults and escapes", () => {
  const files = {
    "herdctl.yaml": `${fleetHead}server: { port: \${PORT} }
agents:
  - name: \${NAME:-fallback}
    max_turns: \${TURNS:-12}
    env: { A: "x-\${NAME:-none}-y", B: "$\${LITERAL}", C: "\${EMPTY:-filled}", D: "\${PORT}", E: \${URL:-http://[::1]:80/a,b#c} }
`,
  };
  const { fleet } = load(files, { PORT: "4000", EMPTY: "" });
  expect(fleet.server.port).toBe(4000);
  const [agent] = fleet.agents;
  expect(agent?.name).toBe("fallback");
  expect(agent?.max_turns).toBe(12);
  expect(agent?.env).toEqual({
    A: "x-none-y",
    B: "${LITERAL}",
    C: "filled",
    D: "4000",
    E: "http://[::1]:80/a,b#c",
  });
});

test(".env beside the fleet file fills in; the real environment wins", () => {
  const files = {
    "herdctl.yaml": `${fleetHead}agents: [{ name: one, model: "\${MODEL}", description: "\${WHAT}" }]`,
    ".env": "MODEL=from-file\nWHAT='quoted text'\n",
  };
  expect(load(files).fleet.agents[0]).toMatchObject({
    model: "from-file",
    description: "quoted text",
  });
  expect(load(files, { MODEL: "real" }).fleet.agents[0]?.model).toBe("real");
});

test("anchors and merge keys work", () => {
  const loaded = load({
    "herdctl.yaml": `${fleetHead}agents:
  - &base { name: a, model: m, max_turns: 3 }
  - <<: *base
    name: b
    max_turns: 4
`,
  });
  expect(agentOf(loaded, "b")).toMatchObject({ model: "m", max_turns: 4 });
});

test("an alias that contains itself is an error, not a hang", () => {
  const problems = problemsOf({
    "herdctl.yaml": `${fleetHead}agents:\n  - &a\n    name: x\n    env: *a\n`,
  });
  expect(problems[0]?.message).toContain("refers to itself");
});

test("included fleets bring their agents under qualified names, with the outer defaults below", () => {
  const loaded = load({
    "herdctl.yaml": `${fleetHead}defaults: { model: outer, max_turns: 1 }
agents: [{ name: coder }]
fleets:
  - { path: web, overrides: { priority: 5 } }
  - { path: ops/herdctl.yaml, name: operations }
`,
    "web/herdctl.yaml":
      "version: 1\nfleet: { name: web }\ndefaults: { max_turns: 2 }\nagents: [{ name: coder }]\nfleets: [{ path: ../deep }]",
    "deep/herdctl.yaml": "version: 1\nfleet: { name: deep }\nagents: [{ name: diver }]",
    "ops/herdctl.yaml": "version: 1\nfleet: { name: ops }\nagents: [{ name: watcher, model: own }]",
  });
  expect(loaded.fleet.agents.map((agent) => agent.name).sort()).toEqual([
    "coder",
    "operations.watcher",
    "web.coder",
    "web.deep.diver",
  ]);
  expect(agentOf(loaded, "web.coder")).toMatchObject({ model: "outer", max_turns: 2, priority: 5 });
  expect(agentOf(loaded, "operations.watcher").model).toBe("own");
  expect(agentOf(loaded, "web.coder").fleet_dir).toBe(join(loaded.fleet.dir, "web"));
});

test("fleets that include each other are an error", () => {
  const problems = problemsOf({
    "herdctl.yaml": `${fleetHead}fleets: [{ path: b }]`,
    "b/herdctl.yaml": "version: 1\nfleet: { name: b }\nfleets: [{ path: .. }]",
  });
  expect(problems).toHaveLength(1);
  expect(problems[0]).toMatchObject({ message: ".. includes itself", line: 3 });
});

test("the snapshot cannot be changed", () => {
  const { fleet } = load(inlineAgent("env: { A: b }"));
  expect(Object.isFrozen(fleet.agents[0]?.env)).toBe(true);
});

test("a symlinked fleet file's folder is resolved as given", () => {
  const folder = folderWith({ "real/herdctl.yaml": `${fleetHead}agents: [{ name: one }]` });
  mkdirSync(join(folder, "links"));
  symlinkSync(join(folder, "real"), join(folder, "links/fleet"));
  const loaded = loadFleet(join(folder, "links/fleet/herdctl.yaml"), {});
  expect(loaded.fleet.agents).toHaveLength(1);
});
