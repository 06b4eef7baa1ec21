import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { loadFleet, mayUseLoginByDefault } from "@herdctl/config";
import { type Problem, ProblemsError } from "@herdctl/protocol";
import { describe, expect, test } from "vitest";
import { parse, stringify } from "yaml";
import { agentOf, configProblems, fleetHeader, loadTestFleet } from "../support/fleet-config.ts";
import { tempFolderWith } from "../support/temp-folder.ts";

const secrets = { API_KEY: "canary-of-the-api-key", DB_PASSWORD: "canary-db-password" };
const hostServer = { jira: { command: "jira", env: { TOKEN: "x" } } };

/** A fleet file that contains every agent, and one agent file that it names. */
function fleetFiles(
  agent: object,
  { entry = {}, defaults = {} }: { entry?: object; defaults?: object } = {},
) {
  const fleet = {
    version: 1,
    fleet: { name: "test" },
    defaults: { docker: { enabled: true }, working_directory: "./repo", ...defaults },
    agents: [
      { path: "agents/one.yaml", ...entry },
      { name: "hostagent", docker: { enabled: false } },
      { name: "twin" },
      { name: "networked", docker: { network: "bridge" } },
    ],
  };
  return {
    "herdctl.yaml": stringify(fleet),
    "agents/one.yaml": stringify({ name: "one", ...agent }),
    "agents/report.json": "{ type: object }",
    "private/report.json": "{ type: object }",
    ".env": "LEFT: 1",
  };
}

const schedule = (more: object) => ({
  schedules: { s: { type: "interval", every: "5m", prompt: "x", ...more } },
});
const webhookSchedule = (secret_env: string | string[]) => ({
  schedules: { s: { type: "webhook", prompt: "x", signature: { kind: "github", secret_env } } },
});

const rejectedCases: [what: string, agent: object, path: string, defaults?: object][] = [
  ["a variable in env", { env: { KEY: "${API_KEY}" } }, "env.KEY"],
  ["a variable in docker.env", { docker: { env: { KEY: "${API_KEY}" } } }, "docker.env.KEY"],
  ["a variable with a default", { env: { KEY: "${API_KEY:-none}" } }, "env.KEY"],
  ["a variable that is not set", { env: { KEY: "${NOT_SET:-none}" } }, "env.KEY"],
  ["a variable in a prompt", { default_prompt: "Say ${API_KEY}" }, "default_prompt"],
  ["a variable in its name", { name: "${API_KEY}" }, "name"],
  ["a variable in a number", { max_turns: "${TURNS}" }, "max_turns"],
  ["plugins", { plugins: ["/srv"] }, "plugins"],
  ["plugins of the fleet's folder", { plugins: [".."] }, "plugins"],
  ["a chat", { chat: { discord: { token_env: "API_KEY", users: ["*"] } } }, "chat.discord"],
  ["a folder elsewhere", { working_directory: "/srv/data" }, "working_directory"],
  [
    "a folder elsewhere, as a block",
    { working_directory: { path: "/srv" } },
    "working_directory.path",
  ],
  ["a home folder", { working_directory: "~/work" }, "working_directory"],
  [
    "a repository",
    { working_directory: { repo: "https://git.example/private.git" } },
    "working_directory.repo",
    { working_directory: { repo: "https://git.example/a.git" } },
  ],
  [
    "a place for a clone",
    { working_directory: { root: "/srv" } },
    "working_directory.root",
    { working_directory: { repo: "https://git.example/a.git" } },
  ],
  [
    "a schema elsewhere",
    schedule({ output_schema: resolve("tsconfig.json") }),
    "schedules.s.output_schema",
  ],
  [
    "the fleet file as a schema",
    schedule({ output_schema: "../herdctl.yaml" }),
    "schedules.s.output_schema",
  ],
  [
    "the fleet's .env as a schema",
    schedule({ output_schema: "../.env" }),
    "schedules.s.output_schema",
  ],
  ["a gate", schedule({ gate: { command: "id" } }), "schedules.s.gate"],
  ["a webhook's secret", webhookSchedule("API_KEY"), "schedules.s.signature.secret_env"],
  [
    "two secrets of a webhook",
    webhookSchedule(["API_KEY", "DB_PASSWORD"]),
    "schedules.s.signature.secret_env",
  ],
  ["an agent on the host", { may_trigger: ["hostagent"] }, "may_trigger[0]"],
  ["an agent with a network", { may_trigger: ["networked"] }, "may_trigger[0]"],
  ["any agent", { may_trigger: ["*"] }, "may_trigger[0]"],
  [
    "tools of a host server",
    { allowed_tools: ["mcp__jira__*"] },
    "allowed_tools[0]",
    { mcp_servers: hostServer },
  ],
  ["every tool", { allowed_tools: ["Read", "*"] }, "allowed_tools[1]", { mcp_servers: hostServer }],
  [
    "tools by a name pattern",
    { allowed_tools: ["mcp__j*"] },
    "allowed_tools[0]",
    { mcp_servers: hostServer },
  ],
  ["fewer denied tools", { denied_tools: [] }, "denied_tools", { denied_tools: ["Bash"] }],
  ["a host server", { mcp_servers: { m: { command: "id" } } }, "mcp_servers.m"],
  ["hooks", { hooks: { after_run: [{ type: "shell", command: "id" }] } }, "hooks"],
  [
    "fewer hooks",
    { hooks: { after_run: [] } },
    "hooks",
    { hooks: { after_run: [{ type: "shell", command: "id" }] } },
  ],
  ["a work source", { work_source: { type: "github", repo: "o/r", labels: ["a"] } }, "work_source"],
  ["a credential", { credential: "api_key" }, "credential"],
  ["a provider", { provider: { type: "custom", base_url: "https://x.test" } }, "provider"],
  ["the repository's settings", { setting_sources: ["user", "project"] }, "setting_sources"],
  ["a larger budget per run", { max_budget_usd: 5 }, "max_budget_usd", { max_budget_usd: 1 }],
  [
    "a larger daily budget",
    { budget: { daily_usd: 5 } },
    "budget.daily_usd",
    { budget: { daily_usd: 1 } },
  ],
  [
    "longer timeouts",
    { timeouts: { total: "3h" } },
    "timeouts.total",
    { timeouts: { total: "30m" } },
  ],
  ["more memory than the default", { docker: { memory: "64g" } }, "docker.memory"],
  ["concurrent runs", { max_concurrent: 4 }, "max_concurrent"],
  ["pre-started processes", { keep_alive: { processes: 4 } }, "keep_alive.processes"],
  ["a metadata file", { metadata_file: "report.json" }, "metadata_file"],
  ["self-planned runs", { may_schedule: { max_pending: 1 } }, "may_schedule"],
  [
    "strangers",
    {
      schedules: { s: { ...webhookSchedule("X").schedules.s, allowed_senders: { anyone: true } } },
    },
    "schedules.s.allowed_senders.anyone",
  ],
];

test.each(rejectedCases)(
  "refuses %s in a limited file, and accepts it with the suggested line",
  (_, agent, path, defaults) => {
    const env = { ...secrets, TURNS: "7", X: "1", NOT: "1" };
    const problems = configProblems(fleetFiles(agent, { defaults }), env);
    const found = problems.filter((one) => one.path === path);
    expect(found.length, JSON.stringify(problems)).toBeGreaterThan(0);
    expect(found[0]).toMatchObject({ file: expect.stringMatching(/one\.yaml$/) });
    expect(JSON.stringify(problems)).not.toMatch(/canary/);

    const entry = Object.assign({}, ...found.map(entryFromHint));
    expect(
      pathsOf(fleetFiles(agent, { defaults, entry: mergedEntry(found) }), env),
      JSON.stringify(entry),
    ).not.toContain(path);
  },
);

/** Parses the entry that the hint suggests. */
function entryFromHint({ hint }: Problem): Record<string, unknown> {
  const line = /herdctl\.yaml: `(.+)`\.$/.exec(hint)?.[1] ?? expect.fail(`no line: ${hint}`);
  const { agents } = parse(line) as { agents: [Record<string, unknown>] };
  expect(agents[0].path).toBe("agents/one.yaml");
  return agents[0];
}

function mergedEntry(problems: Problem[]): object {
  const entries = problems.map(entryFromHint);
  const variables = entries.flatMap((one) => one.variables ?? []);
  return { ...Object.assign({}, ...entries), ...(variables.length > 0 && { variables }) };
}

function pathsOf(files: Record<string, string>, env: Record<string, string>): string[] {
  try {
    loadTestFleet(files, env);
    return [];
  } catch (error) {
    if (error instanceof ProblemsError) return error.problems.map(({ path }) => path);
    throw error;
  }
}

const acceptedCases: [what: string, agent: object, defaults?: object][] = [
  [
    "prompts, model and tools",
    { default_prompt: "a", system_prompt: "b", model: "m", effort: "low", tools: ["ask"] },
  ],
  [
    "its tools inside the container",
    { permission_mode: "bypassPermissions", allowed_tools: ["Bash", "mcp__mine__x"] },
  ],
  ["every tool where no server is on the host", { allowed_tools: ["*"] }],
  ["more denied tools", { denied_tools: ["Bash", "Edit"] }, { denied_tools: ["Bash"] }],
  ["a folder of the fleet", { working_directory: "../elsewhere" }],
  ["a schema beside it", schedule({ output_schema: "report.json" })],
  ["a schema in place", schedule({ output_schema: { type: "object" } })],
  [
    "less of everything",
    { max_budget_usd: 1, timeouts: { total: "1h" }, docker: { memory: "1g" } },
  ],
  ["a server in the container", { mcp_servers: { mine: { command: "x", run: "container" } } }],
  ["an agent that is isolated like itself", { may_trigger: ["twin"] }],
  ["the text of a variable", { default_prompt: "$${API_KEY}" }],
];

test.each(acceptedCases)("accepts %s in a limited file", (_, agent, defaults) => {
  expect(() => loadTestFleet(fleetFiles(agent, { defaults }), secrets)).not.toThrow();
});

describe("grants", () => {
  test("fills in the variables that the entry lists, and no others", () => {
    const files = fleetFiles({ env: { KEY: "${API_KEY}" } }, { entry: { variables: ["API_KEY"] } });
    expect(agentOf(loadTestFleet(files, secrets), "one").env).toEqual({
      KEY: "canary-of-the-api-key",
    });
  });

  test("opens the folders of workspace_roots, also by a glob and relative to the fleet file", () => {
    const agent = { working_directory: "../../shared/work" };
    const entry = { path: "agents/*.yaml", workspace_roots: ["../shared"] };
    expect(() => loadTestFleet(fleetFiles(agent, { entry }))).not.toThrow();
  });

  test("follows a link out of the fleet's folder", () => {
    const folder = tempFolderWith(fleetFiles({ working_directory: "../link" }));
    const elsewhere = tempFolderWith({ "private.txt": "" });
    symlinkSync(elsewhere, join(folder, "link"));
    expect(() => loadFleet(join(folder, "herdctl.yaml"), {})).toThrow(/outside the fleet's folder/);
  });

  test("treats trust: full like an agent in the fleet file", () => {
    const agent = { env: { KEY: "${API_KEY}" }, docker: { network: "bridge" }, plugins: ["/srv"] };
    const loaded = loadTestFleet(fleetFiles(agent, { entry: { trust: "full" } }), secrets);
    expect(agentOf(loaded, "one").docker.network).toBe("bridge");
  });

  test("decides by the last entry for the same file", () => {
    const agent = "name: one\ndocker: { enabled: true, network: bridge }\nworking_directory: ../w";
    const files = (entries: string) => ({
      "herdctl.yaml": `${fleetHeader}agents: [${entries}]\n`,
      "agents/one.yaml": agent,
    });
    const glob = "{ path: agents/*.yaml }";
    expect(() =>
      loadTestFleet(files(`${glob}, { path: agents/one.yaml, trust: full }`)),
    ).not.toThrow();
    expect(() =>
      loadTestFleet(files(`{ path: agents/one.yaml, trust: full }, ${glob}`)),
    ).not.toThrow();
    const limited = "{ path: agents/one.yaml, trust: limited }";
    expect(configProblems(files(`{ path: agents/*.yaml, trust: full }, ${limited}`))).toHaveLength(
      1,
    );
  });

  test("needs no grant for what overrides of the fleet file replace", () => {
    const entry = { overrides: { plugins: [], docker: { network: "none" } } };
    const loaded = loadTestFleet(
      fleetFiles({ plugins: ["/srv"], docker: { network: "host" } }, { entry }),
    );
    expect(agentOf(loaded, "one")).toMatchObject({ plugins: [], docker: { network: "none" } });
  });
});

describe("blocks that a limited file clears", () => {
  const entry = {
    overrides: { docker: { workspace_mode: "ro" }, schedules: { s: { prompt: "y" } } },
  };
  const gated = { schedules: { s: { type: "interval", every: "5m", gate: { command: "id" } } } };

  test.each([
    ["docker", { docker: null }],
    ["docker", { docker: "none" }],
    ["schedules.s", { schedules: { s: null } }],
    ["schedules", { schedules: null }],
  ])("refuses to remove what the fleet file sets in %s", (path, agent) => {
    const problems = configProblems(fleetFiles(agent, { entry, defaults: gated }));
    expect(problems.map((one) => one.path)).toContain(path);
  });

  test("accepts short forms, which remove nothing", () => {
    const defaults = { runtime: { type: "sdk" }, working_directory: { path: "./repo" } };
    const agent = { runtime: "cli", working_directory: "../elsewhere" };
    expect(() => loadTestFleet(fleetFiles(agent, { defaults }))).not.toThrow();
  });
});

describe("an agent on the host", () => {
  test("accepts any setting of its file", () => {
    const agent = { docker: { enabled: false }, env: { KEY: "${API_KEY}" }, plugins: ["/srv"] };
    const files = fleetFiles(agent, { defaults: { docker: {} } });
    expect(agentOf(loadTestFleet(files, secrets), "one").env).toEqual({
      KEY: "canary-of-the-api-key",
    });
  });

  test.each([
    ["by a literal value", { enabled: true }],
    ["by a variable", { enabled: "${IN_DOCKER:-true}" }],
  ])("limits a file as soon as it enables Docker, %s", (_, docker) => {
    const agent = `name: one\nworking_directory: ../w\nplugins: [/srv]\ndocker: { enabled: ${docker.enabled} }`;
    const files = { ...fleetFiles({}, { defaults: { docker: {} } }), "agents/one.yaml": agent };
    expect(configProblems(files).map(({ path }) => path)).toContain("plugins");
  });

  test("still limits a file that disables Docker", () => {
    const problems = configProblems(fleetFiles({ docker: { enabled: false }, plugins: ["/srv"] }));
    expect(problems.map(({ path }) => path)).toEqual(["docker.enabled", "plugins"]);
  });
});

describe("tools of MCP servers on the host", () => {
  test("applies the rules of the fleet file, whatever an agent file configures for its container", () => {
    const agent = { permission_mode: "bypassPermissions", allowed_tools: ["Bash"] };
    const defaults = { mcp_servers: hostServer, allowed_tools: ["mcp__jira__read"] };
    const { permission_mode, host_tools } = agentOf(
      loadTestFleet(fleetFiles(agent, { defaults })),
      "one",
    );
    expect(permission_mode).toBe("bypassPermissions");
    expect(host_tools).toEqual({ permission_mode: "default", allowed_tools: ["mcp__jira__read"] });
  });

  test("adds no separate rules when nothing is limited", () => {
    const defaults = { mcp_servers: hostServer };
    const loaded = loadTestFleet(fleetFiles({}, { defaults, entry: { trust: "full" } }));
    expect(agentOf(loaded, "one").host_tools).toBeUndefined();
  });
});

describe("an included fleet", () => {
  const files = (outer: string, inner: string) => ({
    "herdctl.yaml": `${fleetHeader}defaults: { docker: { enabled: true } }\nfleets: [{ path: inner${outer} }]`,
    "inner/herdctl.yaml": `version: 1\nfleet: { name: inner }\n${inner}`,
    "inner/agents/a.yaml": "name: a\nworking_directory: ../w\nenv: { KEY: ${API_KEY} }\n",
  });
  const inline = "agents: [{ name: a, working_directory: w, env: { KEY: ${API_KEY} } }]";
  const byFile = (more = "") => `agents: [{ path: agents/a.yaml${more} }]`;
  const refuse = (outer: string, inner: string) => configProblems(files(outer, inner), secrets);

  test("limits all agents of an included fleet and names one line of the outer fleet file", () => {
    const [problem] = refuse("", inline);
    expect(problem).toMatchObject({
      path: "env.KEY",
      file: expect.stringMatching(/inner.herdctl/),
    });
    expect(problem?.hint).toMatch(
      /herdctl\.yaml: `fleets: \[\{ path: inner, variables: \[API_KEY\] \}\]`/,
    );
    expect(() => loadTestFleet(files(", variables: [API_KEY]", inline), secrets)).not.toThrow();
    expect(() => loadTestFleet(files(", trust: full", inline), secrets)).not.toThrow();
  });

  test("refuses a grant beyond what the included fleet was granted", () => {
    expect(refuse("", byFile(", trust: full"))).toHaveLength(1);
    expect(refuse("", byFile(", variables: [API_KEY]"))).toHaveLength(1);
    expect(refuse(", variables: [API_KEY]", byFile())).toHaveLength(1);
    expect(refuse(", trust: full", byFile())).toHaveLength(1);
    expect(() =>
      loadTestFleet(files(", variables: [API_KEY]", byFile(", variables: [API_KEY]")), secrets),
    ).not.toThrow();
  });

  test("refuses agent files outside the included fleet's folder", () => {
    const folder = tempFolderWith({ "b.yaml": "name: b\nworking_directory: /srv" });
    const path = join(folder, "b.yaml");
    expect(refuse("", `agents: [{ path: ${path} }]`).map(({ message }) => message)).toContain(
      "a limited fleet cannot use a file outside its folder for an agent in Docker",
    );
  });
});

test("lets a limited file elsewhere read a schema beside itself", () => {
  const elsewhere = tempFolderWith({});
  mkdirSync(join(elsewhere, "agents"));
  writeFileSync(join(elsewhere, "agents/s.json"), "{ type: object }");
  const text = stringify({ name: "far", ...schedule({ output_schema: "s.json" }) });
  writeFileSync(join(elsewhere, "agents/far.yaml"), text);
  const fleet = `${fleetHeader}defaults: { docker: { enabled: true }, working_directory: ./w }\nagents: [{ path: ${elsewhere}/agents/far.yaml }]`;
  expect(() => loadTestFleet({ "herdctl.yaml": fleet })).not.toThrow();
});

const loginCases: [string, object, object, boolean][] = [
  ["the fleet file chooses the CLI", { runtime: "cli" }, {}, true],
  [
    "the agent file runs in a container by itself",
    { docker: {} },
    { runtime: "cli", docker: { enabled: true } },
    true,
  ],
  ["only the agent file chooses the CLI", {}, { runtime: "cli" }, false],
  [
    "the agent file enables Docker as well",
    {},
    { runtime: "cli", docker: { enabled: true } },
    false,
  ],
];

test.each(loginCases)(
  "decides about the login by default when %s",
  (_, defaults, agent, allowed) => {
    const one = agentOf(loadTestFleet(fleetFiles(agent, { defaults })), "one");
    expect(one.docker.enabled).toBe(true);
    expect(mayUseLoginByDefault(one)).toBe(allowed);
  },
);
