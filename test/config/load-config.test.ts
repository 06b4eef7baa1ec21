import { mkdirSync, symlinkSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { loadFleet, viewConfig } from "@herdctl/config";
import { findFleetFile } from "@herdctl/protocol";
import { expect, test } from "vitest";
import {
  agentOf,
  configProblems,
  fleetHeader,
  inlineAgent,
  loadTestFleet,
} from "../support/fleet-config.ts";
import { tempFolderWith } from "../support/temp-folder.ts";

test("finds a fleet file in the working directory or above", () => {
  const folder = tempFolderWith({ "herdctl.yaml": fleetHeader, "a/b/.keep": "" });
  expect(findFleetFile({ cwd: join(folder, "a/b") })).toBe(join(folder, "herdctl.yaml"));
  expect(findFleetFile({ cwd: "/", config: folder })).toBe(join(folder, "herdctl.yaml"));
});

test("reports a missing fleet file", () => {
  const folder = tempFolderWith({ ".keep": "" });
  expect(() => findFleetFile({ cwd: folder })).toThrow(/no herdctl.yaml/);
  expect(() => findFleetFile({ cwd: folder, config: "nope.yaml" })).toThrow(/does not exist/);
});

test("a fleet without a name has the name of its folder", () => {
  const folder = tempFolderWith({
    "my shop/herdctl.yaml": "version: 1\nfleets: [{ path: ../library }]\n",
    "library/herdctl.yaml": "version: 1\nfleet: { max_concurrent: 2 }\nagents: [{ name: a }]\n",
  });
  const loaded = loadFleet(join(folder, "my shop/herdctl.yaml"), {});
  expect(loaded.fleet.fleet.name).toBe("my-shop");
  expect(loaded.fleet.agents.map(({ name }) => name)).toEqual(["library.a"]);
  expect(viewConfig(loaded).fleet[0]).toEqual({ path: "fleet.name", value: "my-shop" });
});

test("loads agents by path, by glob and inline, in the order of the fleet file", () => {
  const loaded = loadTestFleet({
    "herdctl.yaml": `${fleetHeader}agents:
  - path: agents/*.yaml
  - name: inline
`,
    "agents/b.yaml": "name: b",
    "agents/a.yaml": "name: a",
  });
  expect(loaded.fleet.agents.map((agent) => agent.name).sort()).toEqual(["a", "b", "inline"]);
});

test("merges defaults, agent file and overrides block by block", () => {
  const loaded = loadTestFleet({
    "herdctl.yaml": `${fleetHeader}defaults:
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

test("loads a file matched by a glob and by its path once", () => {
  const loaded = loadTestFleet({
    "herdctl.yaml": `${fleetHeader}agents: [{ path: "*.agent.yaml" }, { path: one.agent.yaml }]`,
    "one.agent.yaml": "name: one",
  });
  expect(loaded.fleet.agents).toHaveLength(1);
});

test("resolves paths relative to the file that contains them", () => {
  const loaded = loadTestFleet({
    "herdctl.yaml": `${fleetHeader}claude_path: ./bin/claude
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

test("uses the fleet's folder without a working directory, and expands ~", () => {
  const loaded = loadTestFleet({
    "herdctl.yaml": `${fleetHeader}agents: [{ path: agents/a.yaml }, { name: b, working_directory: ~/code }]`,
    "agents/a.yaml": "name: a",
  });
  expect(agentOf(loaded, "a").working_directory.path).toBe(loaded.fleet.dir);
  expect(agentOf(loaded, "b").working_directory.path).toBe(join(homedir(), "code"));
});

test("parses durations, sizes and short forms", () => {
  const agent = agentOf(
    loadTestFleet(
      inlineAgent("runtime: cli\ntimeouts: { stall: 1h30m, total: 2d }\nretry: { backoff: 500ms }"),
    ),
    "one",
  );
  expect(agent.runtime).toEqual({ type: "cli", stream: "stdout" });
  expect(agent.timeouts).toEqual({ start: 60_000, stall: 5_400_000, total: 172_800_000 });
  expect(agent.retry.backoff).toBe(500);
  expect(agentOf(loadTestFleet(inlineAgent("runtime: { type: cli }")), "one").runtime.type).toBe(
    "cli",
  );
  expect(agentOf(loadTestFleet(inlineAgent("description: x")), "one").runtime.type).toBe("sdk");
});

test("fills in variables with YAML's typing, defaults and escapes", () => {
  const files = {
    "herdctl.yaml": `${fleetHeader}server: { port: \${PORT} }
agents:
  - name: \${NAME:-fallback}
    max_turns: \${TURNS:-12}
    env: { A: "x-\${NAME:-none}-y", B: "$\${LITERAL}", C: "\${EMPTY:-filled}", D: "\${PORT}", E: \${URL:-http://[::1]:80/a,b#c} }
`,
  };
  const { fleet } = loadTestFleet(files, { PORT: "4000", EMPTY: "" });
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

test("reads .env beside the fleet file, below the real environment", () => {
  const files = {
    "herdctl.yaml": `${fleetHeader}agents: [{ name: one, model: "\${MODEL}", description: "\${WHAT}" }]`,
    ".env": "MODEL=from-file\nWHAT='quoted text'\n",
  };
  expect(loadTestFleet(files).fleet.agents[0]).toMatchObject({
    model: "from-file",
    description: "quoted text",
  });
  expect(loadTestFleet(files, { MODEL: "real" }).fleet.agents[0]?.model).toBe("real");
});

test("supports anchors and merge keys", () => {
  const loaded = loadTestFleet({
    "herdctl.yaml": `${fleetHeader}agents:
  - &base { name: a, model: m, max_turns: 3 }
  - <<: *base
    name: b
    max_turns: 4
`,
  });
  expect(agentOf(loaded, "b")).toMatchObject({ model: "m", max_turns: 4 });
});

test("reports an alias that contains itself", () => {
  const problems = configProblems({
    "herdctl.yaml": `${fleetHeader}agents:\n  - &a\n    name: x\n    env: *a\n`,
  });
  const messages = problems.map(({ message }) => message);
  expect(messages).toContainEqual(expect.stringContaining("refers to itself"));
});

test("loads included fleets under qualified names, with the outer defaults below", () => {
  const loaded = loadTestFleet({
    "herdctl.yaml": `${fleetHeader}defaults: { model: outer, max_turns: 1 }
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

test("reports fleets that include each other", () => {
  const problems = configProblems({
    "herdctl.yaml": `${fleetHeader}fleets: [{ path: b }]`,
    "b/herdctl.yaml": "version: 1\nfleet: { name: b }\nfleets: [{ path: .. }]",
  });
  expect(problems).toHaveLength(1);
  expect(problems[0]).toMatchObject({ message: ".. includes itself", line: 3 });
});

test("freezes the loaded configuration", () => {
  const { fleet } = loadTestFleet(inlineAgent("env: { A: b }"));
  expect(Object.isFrozen(fleet.agents[0]?.env)).toBe(true);
});

test("resolves a symlinked fleet file in the given folder", () => {
  const folder = tempFolderWith({ "real/herdctl.yaml": `${fleetHeader}agents: [{ name: one }]` });
  mkdirSync(join(folder, "links"));
  symlinkSync(join(folder, "real"), join(folder, "links/fleet"));
  const loaded = loadFleet(join(folder, "links/fleet/herdctl.yaml"), {});
  expect(loaded.fleet.agents).toHaveLength(1);
});

test("paths of MCP servers and plugins are relative to the file that names them", () => {
  const server = (run: string) =>
    `{ command: ./bin/server, args: [./a.mjs, ../b, "~/c", d/e, -x, .], run: ${run} }`;
  const loaded = loadTestFleet({
    "herdctl.yaml": `${fleetHeader}defaults:
  plugins: [./plugins/one]
  mcp_servers:
    own: ${server("host")}
    inside: ${server("container")}
    found: { command: npx, args: [./x] }
agents:
  - path: agents/one.yaml
`,
    "agents/one.yaml": `name: one
docker: { enabled: true }
working_directory: ./work
mcp_servers: { mine: { command: ../tool, run: container } }
`,
    "agents/work/.keep": "",
  });
  const { dir } = loaded.fleet;
  const { mcp_servers, plugins } = agentOf(loaded, "one");
  expect(mcp_servers.own).toMatchObject({
    command: join(dir, "bin/server"),
    args: [join(dir, "a.mjs"), join(dir, "../b"), join(homedir(), "c"), "d/e", "-x", "."],
  });
  expect(mcp_servers.inside).toMatchObject({
    command: "./bin/server",
    args: ["./a.mjs", "../b", "~/c", "d/e", "-x", "."],
  });
  expect(mcp_servers.found).toMatchObject({ command: "npx", args: [join(dir, "x")] });
  expect(mcp_servers.mine).toMatchObject({ command: "../tool" });
  expect(plugins).toEqual([join(dir, "plugins/one")]);
});
