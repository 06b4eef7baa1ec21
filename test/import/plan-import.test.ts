import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { type ImportPlan, loadFleet, planImport } from "@herdctl/config";
import { afterEach, beforeEach, describe, expect, it } from "vitest";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "herdctl-import-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

describe("an import of a fleet in the other format", () => {
  it("renames keys and keeps comments, order and unchanged lines byte for byte", () => {
    const before = `# The fleet file.
version: 1
fleet:   { name: shop }      # its name

defaults:
  model: claude-sonnet-5-5
  instances:
    max_concurrent: 2

agents:
  - name: watcher
    description:   "Looks at the shop"     # three spaces
    schedules:
      # every half hour
      look:
        type: interval
        interval: 30m
        prompt: |
          Look   at the page.
            Indented.
`;
    const after = importText(before);
    expect(after).toBe(`# The fleet file.
version: 1
fleet:   { name: shop }      # its name

defaults:
  model: claude-sonnet-5-5
  max_concurrent: 2

agents:
  - name: watcher
    description:   "Looks at the shop"     # three spaces
    schedules:
      # every half hour
      look:
        type: interval
        every: 30m
        prompt: |
          Look   at the page.
            Indented.
`);
  });

  it("keeps every comment, also of keys that it removes", () => {
    const after = importText(`version: 1
agents:
  - name: watcher
    # above identity
    identity: { name: Ada } # beside identity
    hooks:
      after_run:
        - type: shell
          name: log # beside the name
          # above the command
          command: cat
`);
    for (const text of ["above identity", "beside identity", "log", "beside the name"])
      expect(after).toContain(`# ${text}`);
    expect(after).toContain("# above the command");
  });

  it.each<[string, string, Record<string, unknown>]>([
    [
      "permissions",
      "permissions: { mode: plan, allowed_tools: [Read] }",
      { permission_mode: "plan", allowed_tools: ["Read"] },
    ],
    [
      "limits of a session",
      "session: { max_turns: 5, timeout: 20m, model: haiku }",
      { max_turns: 5, model: "haiku", timeouts: expect.objectContaining({ total: 1_200_000 }) },
    ],
    [
      "milliseconds",
      "session: { timeout: 90000 }",
      { timeouts: expect.objectContaining({ total: 90_000 }) },
    ],
    ["instances", "instances: { max_concurrent: 3 }", { max_concurrent: 3 }],
    [
      "plugins",
      "plugins: [./a, { type: local, path: ./b, skipMcpDiscovery: true }]",
      { plugins: [expect.stringMatching(/\/a$/), expect.stringMatching(/\/b$/)] },
    ],
    [
      "the older name of the folder",
      "workspace: ./work",
      { working_directory: { path: expect.stringMatching(/\/work$/) } },
    ],
    [
      "identity",
      "identity: { name: Ada, role: helps }",
      { system_prompt: { append: "Your name is Ada. Your role: helps." } },
    ],
    [
      "identity before a prompt",
      "identity: { name: Ada }\nsystem_prompt: Be brief.",
      { system_prompt: { append: "Your name is Ada.\n\nBe brief." } },
    ],
    [
      "a repository",
      "repo: acme/shop\nworking_directory: { root: ./clones, default_branch: main, clone_depth: 1 }",
      {
        working_directory: {
          path: expect.stringMatching(/clones\/one$/),
          clone: { repo: "https://github.com/acme/shop.git", branch: "main", depth: 1 },
        },
      },
    ],
    [
      "the older name of cron",
      "schedules: { s: { type: cron, expression: '@hourly', outputToFile: true } }",
      { schedules: { s: expect.objectContaining({ cron: "@hourly" }) } },
    ],
    [
      "an MCP server",
      "mcp_servers: { m: { type: stdio, command: node, args: [x] }, r: { url: 'https://mcp.example.org' } }",
      {
        mcp_servers: {
          m: expect.objectContaining({ command: "node" }),
          r: expect.objectContaining({ type: "http" }),
        },
      },
    ],
    [
      "a processor limit",
      "docker: { cpu_quota: 150000, cpu_period: 100000, cpu_shares: 512, max_containers: 3 }",
      { docker: expect.objectContaining({ cpus: 1.5 }) },
    ],
    [
      "a volume, which was writable",
      "docker: { volumes: ['./cache:/cache'] }",
      { docker: expect.objectContaining({ volumes: [expect.objectContaining({ mode: "rw" })] }) },
    ],
    [
      "a work source",
      "work_source: { type: github, repo: acme/shop, labels: { ready: go, in_progress: busy }, auth: { token_env: GH }, cleanup_on_failure: true }",
      {
        work_source: expect.objectContaining({
          labels: ["go"],
          claimed_label: "busy",
          token_env: "GH",
        }),
      },
    ],
  ])("translates %s", (_, settings, expected) => {
    const agent = importAgent(settings);
    expect(agent).toMatchObject(expected);
  });

  it("moves what an agent file may not set for a container to the fleet file", () => {
    write(
      "agents/boxed.yaml",
      "name: boxed\nworking_directory: ./src\nsetting_sources: [project]\ndocker: { enabled: true, tmpfs: [/scratch] }\n",
    );
    const plan = planOf("version: 1\nagents:\n  - path: ./agents/boxed.yaml # ours\n");
    expect(plan.problems).toEqual([]);
    expect(textOf(plan, "herdctl.yaml")).toContain("setting_sources");
    expect(textOf(plan, "herdctl.yaml")).toContain("# ours");
    expect(textOf(plan, "agents/boxed.yaml")).not.toContain("tmpfs");
    expect(plan.findings.map(({ kind }) => kind)).toContain("moved");
  });

  it("gives a container agent without a folder one of its own", () => {
    const plan = planOf(
      "version: 1\nagents: [{ name: boxed, docker: { enabled: true, ephemeral: true } }]\n",
    );
    expect(plan.problems).toEqual([]);
    expect(plan.folders).toEqual([join(folder, "workspaces/boxed")]);
    expect(textOf(plan, "herdctl.yaml")).toContain("./workspaces/boxed");
  });

  it("closes a chat that was open to everyone, and says so", () => {
    const plan = planOf(`version: 1
agents:
  - name: helper
    chat:
      discord:
        bot_token_env: BOT
        session_expiry_hours: 48
        guilds: [{ id: "1", channels: [{ id: "2", name: "#dev", mode: auto, context_messages: 5 }] }]
        dm: { enabled: true, mode: mention }
`);
    expect(plan.problems).toEqual([]);
    expect(agentOf(plan, "helper")?.chat?.discord).toMatchObject({
      token_env: "BOT",
      session_expires: 48 * 3_600_000,
      guilds: ["1"],
      channels: { 2: { mode: "auto" } },
      context_messages: 5,
      users: [],
      direct_message_users: [],
      direct_message_mode: "mention",
    });
    const decisions = plan.findings.filter(({ kind }) => kind === "decision");
    expect(decisions.map(({ path }) => path)).toEqual([
      "agents[0].chat.discord.dm",
      "agents[0].chat.discord.users",
    ]);
  });

  it("moves secrets from the files to variables", () => {
    const token = `xoxb-${"1".repeat(24)}`;
    const plan = planOf(
      `version: 1\nagents:\n  - name: a\n    mcp_servers:\n      docs: { type: http, url: "https://mcp.example.org", headers: { Authorization: "Bearer ${token}" } }\n`,
    );
    expect(plan.problems).toEqual([]);
    expect(textOf(plan, "herdctl.yaml")).not.toContain(token);
    expect(plan.variables).toEqual({ DOCS_AUTHORIZATION: token });
  });

  it("stubs variables that are not set, and asks for their values", () => {
    const plan = planOf(
      "version: 1\nagents: [{ name: a, instances: {}, env: { X: '${SHOP_KEY}' } }]\n",
    );
    expect(plan.variables).toEqual({ SHOP_KEY: "" });
    expect(plan.problems).toEqual([]);
  });

  it("translates included fleets and files named by a pattern", () => {
    write(
      "agents/a.yaml",
      "name: a\nschedules: { s: { type: interval, interval: 5m, prompt: go } }\n",
    );
    write("other/herdctl.yaml", "fleet: { name: other }\nagents: [{ name: b, workspace: . }]\n");
    const plan = planOf(
      "version: 1\nagents: [{ path: 'agents/*.yaml' }]\nfleets: [{ path: ./other }]\n",
    );
    expect(plan.problems).toEqual([]);
    expect(plan.files.map(({ file }) => file.slice(folder.length + 1)).sort()).toEqual([
      "agents/a.yaml",
      "other/herdctl.yaml",
    ]);
  });

  it.each([
    ["broken YAML", "version: 1\nagents: { name: a, - }\n"],
    ["a file that does not exist", "version: 1\nagents: [{ path: ./no.yaml }]\n"],
    ["two agents with one name", "version: 1\nagents: [{ name: a, instances: {} }, { name: a }]\n"],
  ])("reports %s with its place", (_, text) => {
    const plan = planOf(text);
    expect(plan.problems.length).toBeGreaterThan(0);
    expect(plan.problems[0]).toMatchObject({ file: join(folder, "herdctl.yaml"), line: 2 });
  });

  it("refuses a version of the format that it does not know", () => {
    expect(() => planOf("version: 3\nagents: []\n")).toThrow("has version 3 of its format");
  });

  it("changes nothing in a fleet of ours", () => {
    const plan = planOf(
      "version: 1\nagents: [{ name: a, schedules: { s: { type: interval, every: 5m, prompt: go } } }]\n",
    );
    expect(plan).toMatchObject({ files: [], findings: [], problems: [] });
  });
});

describe("a fleet in the other format that is started as it is", () => {
  it("runs where the meaning is the same, and warns with the new name", () => {
    write(
      "herdctl.yaml",
      "agents:\n  - name: a\n    runtime: cli\n    schedules: { s: { type: interval, interval: 5m, prompt: go } }\n",
    );
    const { fleet, warnings } = loadFleet(join(folder, "herdctl.yaml"), {});
    expect(fleet.agents[0]?.schedules).toMatchObject({ s: { every: 300_000 } });
    expect(warnings).toContainEqual(
      expect.objectContaining({ message: "`version: 1` is the version of the format" }),
    );
    expect(warnings).toContainEqual(
      expect.objectContaining({ line: 4, message: "`interval` is called `every` here" }),
    );
  });

  it("is refused where the meaning differs", () => {
    write(
      "herdctl.yaml",
      "version: 1\nagents:\n  - name: a\n    chat: { slack: { bot_token_env: X, dm: { enabled: true } } }\n",
    );
    expect(() => loadFleet(join(folder, "herdctl.yaml"), {})).toThrow(
      "direct messages were open to everyone",
    );
  });

  it("holds an agent file to its limits whatever its names", () => {
    write(
      "a.yaml",
      "name: a\nworking_directory: ./w\nworkspace: /etc\ndocker: { enabled: true }\nrepo: acme/shop\n",
    );
    write("herdctl.yaml", "version: 1\nagents: [{ path: a.yaml }]\n");
    write("b.yaml", "name: b\nworkspace: /etc/ssh\ndocker: { enabled: true }\n");
    write("second.yaml", "version: 1\nagents: [{ path: b.yaml }]\n");
    expect(() => loadFleet(join(folder, "second.yaml"), {})).toThrow(
      "a limited file cannot set this",
    );
  });
});

function importText(text: string): string {
  const plan = planOf(text);
  expect(plan.problems).toEqual([]);
  return textOf(plan, "herdctl.yaml");
}

function importAgent(settings: string) {
  const indented = settings.replaceAll("\n", "\n    ");
  const plan = planOf(`version: 1\nagents:\n  - name: one\n    ${indented}\n`);
  expect(plan.problems).toEqual([]);
  return agentOf(plan, "one");
}

function agentOf(plan: ImportPlan, name: string) {
  const texts = new Map(plan.files.map(({ file, after }) => [file, after]));
  const { fleet } = loadFleet(plan.fleetFile, plan.variables, texts);
  return fleet.agents.find((agent) => agent.name === name);
}

function planOf(text: string): ImportPlan {
  write("herdctl.yaml", text);
  return planImport(join(folder, "herdctl.yaml"), {});
}

function textOf(plan: ImportPlan, file: string): string {
  const found = plan.files.find((one) => one.file === join(folder, file));
  return found?.after ?? readFileSync(join(folder, file), "utf8");
}

function write(file: string, text: string): void {
  const path = join(folder, file);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}
