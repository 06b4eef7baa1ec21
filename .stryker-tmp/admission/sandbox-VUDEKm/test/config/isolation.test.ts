import { symlinkSync } from "node:fs";
import { join } from "node:path";
import { loadFleet } from "@herdctl/config";
import { ProblemsError } from "@herdctl/protocol";
import fc from "fast-check";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { stringify } from "yaml";
import { agentOf, configProblems, fleetHeader, loadTestFleet } from "../support/fleet-config.ts";
import { tempFolderWith } from "../support/temp-folder.ts";

/** A fleet file with these settings, and one agent file. */
function fleetFiles(fleet: { defaults?: object; overrides?: object }, agent: object) {
  const entry = { path: "agents/one.yaml", ...(fleet.overrides && { overrides: fleet.overrides }) };
  const file = {
    version: 1,
    fleet: { name: "test" },
    defaults: fleet.defaults ?? {},
    agents: [entry],
  };
  return {
    "herdctl.yaml": stringify(file),
    "agents/one.yaml": stringify({ name: "one", working_directory: "../repo", ...agent }),
  };
}

const inDocker = { docker: { enabled: true } };

const rejectedCases: [what: string, fleet: object, agent: object, path: string][] = [
  ["Docker switched off", inDocker, { docker: { enabled: false } }, "docker.enabled"],
  ["another image", inDocker, { docker: { image: "mine" } }, "docker.image"],
  ["a network", inDocker, { docker: { network: "bridge" } }, "docker.network"],
  ["an open host", inDocker, { docker: { egress: ["github"] } }, "docker.egress"],
  [
    "searches by the API",
    inDocker,
    { docker: { api_features: ["web_search"] } },
    "docker.api_features",
  ],
  ["mounted credentials", inDocker, { docker: { auth: "mount" } }, "docker.auth"],
  ["another user", inDocker, { docker: { user: "1001" } }, "docker.user"],
  ["a volume", inDocker, { docker: { volumes: ["./x:/x:rw"] } }, "docker.volumes"],
  ["a writable root", inDocker, { docker: { read_only: false } }, "docker.read_only"],
  ["a hook", inDocker, { hooks: { after_run: [{ type: "shell", command: "id" }] } }, "hooks"],
  [
    "a gate",
    inDocker,
    { schedules: { s: { type: "interval", every: "5m", prompt: "x", gate: { command: "id" } } } },
    "schedules.s.gate",
  ],
  ["a server on the host", inDocker, { mcp_servers: { m: { command: "id" } } }, "mcp_servers.m"],
  [
    "a remote server",
    inDocker,
    { mcp_servers: { m: { type: "http", url: "https://example.com" } } },
    "mcp_servers.m",
  ],
  [
    "the fleet's server moved into the container with its secret",
    { ...inDocker, mcp_servers: { m: { command: "id", env: { TOKEN: "x" } } } },
    { mcp_servers: { m: { run: "container" } } },
    "mcp_servers.m",
  ],
  [
    "more memory than the fleet allows",
    { docker: { memory: "1g" } },
    { docker: { enabled: true, memory: "2g" } },
    "docker.memory",
  ],
  [
    "more processors than the default",
    { docker: { enabled: true } },
    { docker: { cpus: 4 } },
    "docker.cpus",
  ],
  [
    "larger files than the default",
    { docker: { enabled: true } },
    { docker: { disk: "20g" } },
    "docker.disk",
  ],
  [
    "less free disk than the default",
    { docker: { enabled: true } },
    { docker: { min_free_disk: "1m" } },
    "docker.min_free_disk",
  ],
  [
    "more processes",
    { docker: { pids_limit: 200 } },
    { docker: { enabled: true, pids_limit: 300 } },
    "docker.pids_limit",
  ],
  [
    "a writable workspace",
    { docker: { enabled: true, workspace_mode: "ro" } },
    { docker: { workspace_mode: "rw" } },
    "docker.workspace_mode",
  ],
];

test.each(rejectedCases)("refuses an agent file that claims %s", (_, defaults, agent, path) => {
  const problems = configProblems(fleetFiles({ defaults }, agent));
  expect(problems.map((problem) => problem.path)).toContain(path);
  expect(problems[0]?.file).toMatch(/one\.yaml$/);
});

test("allows all of it in overrides of the fleet file", () => {
  const overrides = {
    docker: {
      image: "other",
      network: "bridge",
      egress: ["npm"],
      api_features: ["web_search"],
      auth: "env",
      user: "1001",
      volumes: ["./c:/c:rw"],
    },
    hooks: { after_run: [{ type: "shell", command: "id" }] },
    mcp_servers: { m: { command: "id" } },
  };
  const agent = agentOf(loadTestFleet(fleetFiles({ defaults: inDocker, overrides }, {})), "one");
  expect(agent.docker).toMatchObject({ image: "other", network: "bridge", user: "1001" });
});

test("lets an agent file make itself stricter", () => {
  const stricter = {
    docker: {
      enabled: true,
      network: "none",
      egress: [],
      auth: "gateway",
      volumes: [],
      memory: "256m",
      workspace_mode: "ro",
    },
    mcp_servers: { inside: { command: "server", run: "container" } },
  };
  const defaults = { docker: { network: "bridge", egress: ["npm"], memory: "1g" } };
  const agent = agentOf(loadTestFleet(fleetFiles({ defaults }, stricter)), "one");
  expect(agent.docker).toMatchObject({
    enabled: true,
    network: "none",
    egress: [],
    workspace_mode: "ro",
  });
});

test("keeps an included fleet at least as strict as the outer fleet", () => {
  const problems = configProblems({
    "herdctl.yaml": `${fleetHeader}defaults: { docker: { enabled: true, network: none } }\nfleets: [{ path: inner }]`,
    "inner/herdctl.yaml":
      "version: 1\nfleet: { name: inner }\ndefaults: { docker: { enabled: false } }\nagents: [{ name: a, working_directory: ../r, docker: { network: host } }]",
  });
  expect(problems.map((problem) => problem.path).sort()).toEqual([
    "docker.enabled",
    "docker.network",
  ]);
});

const size = fc.constantFrom("128m", "512m", "1g", "2g", "4g");
const dockerBlock = fc.record(
  {
    enabled: fc.boolean(),
    image: fc.constantFrom("a:1", "b:1"),
    network: fc.constantFrom("none", "bridge", "host"),
    egress: fc.subarray(["npm", "github", "example.com"]),
    api_features: fc.subarray(["web_search", "urls"]),
    auth: fc.constantFrom("gateway", "env", "mount"),
    user: fc.constantFrom("1000", "1001"),
    volumes: fc.subarray(["./a:/a:ro", "./b:/b:rw"]),
    tmpfs: fc.subarray(["/var/tmp", "/cache"]),
    memory: size,
    cpus: fc.constantFrom(0.5, 1, 2, 4),
    disk: fc.constantFrom("1g", "10g", "20g"),
    min_free_disk: fc.constantFrom("1m", "512m", "2g"),
    pids_limit: fc.constantFrom(100, 200, 400),
    workspace_mode: fc.constantFrom("rw", "ro"),
    read_only: fc.boolean(),
  },
  { requiredKeys: [] },
);

/** Claims one or two options: larger claims mostly contain a refused option. */
const dockerClaim = fc.tuple(dockerBlock, fc.nat(), fc.nat()).map(([block, first, second]) => {
  const entries = Object.entries(block);
  const chosen = entries.filter((_, index) =>
    [first, second].some((one) => one % entries.length === index),
  );
  return Object.fromEntries(chosen);
});

/** The strictness of each option, implemented independently of the product. */
const strictnessOf: Record<string, (value: unknown) => number> = {
  enabled: (value) => (value === true ? 1 : 0),
  network: (value) => ({ none: 2, bridge: 1, host: 0 })[String(value)] ?? -1,
  egress: (value) => -(value as unknown[]).length,
  api_features: (value) => -(value as unknown[]).length,
  auth: (value) => ({ gateway: 2, env: 1, mount: 0 })[String(value)] ?? 2,
  volumes: (value) => -(value as unknown[]).length,
  tmpfs: (value) => -(value as unknown[]).length,
  memory: (value) => -Number(value),
  cpus: (value) => -Number(value ?? 2),
  disk: (value) => -Number(value),
  min_free_disk: (value) => Number(value),
  pids_limit: (value) => -Number(value),
  workspace_mode: (value) => (value === "ro" ? 1 : 0),
  read_only: (value) => (value === true ? 1 : 0),
};

function resolvedDocker(files: Record<string, string>): Record<string, unknown> | undefined {
  try {
    const loaded = loadTestFleet(files);
    const docker = JSON.stringify(agentOf(loaded, "one").docker);
    return JSON.parse(docker.replaceAll(loaded.fleet.dir, "<dir>"));
  } catch (error) {
    if (error instanceof ProblemsError) return undefined;
    throw error;
  }
}

describe("random agent files", () => {
  test("never makes an agent weaker than fleet and defaults", () => {
    let accepted = 0;
    fc.assert(
      fc.property(dockerBlock, dockerBlock, dockerClaim, (defaults, overrides, claimed) => {
        const fleet = { defaults: { docker: defaults }, overrides: { docker: overrides } };
        const alone = resolvedDocker(fleetFiles(fleet, {}));
        const together = resolvedDocker(fleetFiles(fleet, { docker: claimed }));
        if (!alone || !together) return;
        accepted += 1;
        const merged = { ...defaults, ...overrides } as Record<string, unknown>;
        for (const [option, measure] of Object.entries(strictnessOf)) {
          const limitUnsaid =
            ["memory", "pids_limit"].includes(option) && merged[option] === undefined;
          if (limitUnsaid || together.enabled !== true) continue;
          expect(measure(together[option]), option).toBeGreaterThanOrEqual(measure(alone[option]));
        }
        if (together.enabled === true) {
          expect([together.image, together.user]).toEqual([alone.image, alone.user]);
        }
        if (merged.enabled === true) expect(together.enabled).toBe(true);
      }),
      { numRuns: 400 },
    );
    expect(accepted).toBeGreaterThan(80);
  });

  test("keeps all other options of the fleet when an agent block sets one", () => {
    fc.assert(
      fc.property(dockerBlock, size, (defaults, memory) => {
        const fleet = { defaults: { docker: { ...defaults, memory: "4g" } } };
        const alone = resolvedDocker(fleetFiles(fleet, {}));
        const together = resolvedDocker(fleetFiles(fleet, { docker: { memory } }));
        if (!alone || !together) return;
        expect({ ...together, memory: 0 }).toEqual({ ...alone, memory: 0 });
      }),
      { numRuns: 100 },
    );
  });
});

describe("folders given to a container", () => {
  const fleet = (agent: string, docker = "enabled: true") =>
    `${fleetHeader}agents:\n  - { name: one, ${agent}, docker: { ${docker} } }\n`;

  test("refuses the fleet's own folder as writable", () => {
    const [problem] = configProblems({ "herdctl.yaml": fleet("working_directory: .") });
    expect(problem?.message).toMatch(/could write .*herdctl\.yaml/);
    expect(() =>
      loadTestFleet({
        "herdctl.yaml": fleet("working_directory: .", "enabled: true, workspace_mode: ro"),
      }),
    ).not.toThrow();
    expect(configProblems({ "herdctl.yaml": fleet("description: none given") })).toHaveLength(1);
  });

  test("refuses an agent file inside another agent's workspace, also through links", () => {
    const folder = tempFolderWith({
      "fleet/herdctl.yaml": `${fleetHeader}agents: [{ path: ../repo/agent.yaml }, { name: two, working_directory: ../link, docker: { enabled: true } }]`,
      "repo/agent.yaml": "name: one",
    });
    symlinkSync(join(folder, "repo"), join(folder, "link"));
    expect(() => loadFleet(join(folder, "fleet/herdctl.yaml"), {})).toThrow(
      /could write .*agent\.yaml/,
    );
  });

  const secrets = [
    ...["~", "~/.ssh", "~/.ssh/keys", "/", "/etc", "~/.claude", "/var/run/docker.sock"],
    ...["~/.npmrc", "~/.git-credentials", "~/.pypirc", "~/.azure", "~/.password-store"],
    ...["~/.claude.json", "~/.local", "~/.local/share/keyrings", "~/.mozilla/firefox"],
    ...["~/.colima/default", "~/.orbstack/run", "~/.rd/docker.sock"],
  ];
  test.each(secrets)("refuses %s as workspace and as volume, even read-only", (path) => {
    const workspace = configProblems({
      "herdctl.yaml": fleet(`working_directory: "${path}"`, "enabled: true, workspace_mode: ro"),
    });
    const volume = configProblems({
      "herdctl.yaml": fleet("working_directory: ./repo", `enabled: true, volumes: ["${path}:/x"]`),
    });
    expect(workspace[0]?.message).toMatch(/would have access to/);
    expect(volume[0]?.message).toMatch(/would have access to/);
  });

  test("resolves a link to a secret folder", () => {
    const folder = tempFolderWith({ "herdctl.yaml": fleet("working_directory: ./innocent") });
    const home = tempFolderWith({ ".ssh/known_hosts": "" });
    vi.stubEnv("HOME", home);
    onTestFinished(() => void vi.unstubAllEnvs());
    symlinkSync(join(home, ".ssh"), join(folder, "innocent"));
    expect(() => loadFleet(join(folder, "herdctl.yaml"), {})).toThrow(
      /would have access to .*\.ssh/,
    );
  });

  test("refuses the engine's socket named by DOCKER_HOST, and folders that contain it", () => {
    const folder = tempFolderWith({ "engine/docker.sock": "" });
    vi.stubEnv("DOCKER_HOST", `unix://${folder}/engine/docker.sock`);
    onTestFinished(() => void vi.unstubAllEnvs());
    for (const path of ["engine/docker.sock", "engine"]) {
      const [problem] = configProblems({
        "herdctl.yaml": fleet(
          "working_directory: ./repo",
          `enabled: true, volumes: ["${folder}/${path}:/x"]`,
        ),
      });
      expect(problem?.message).toMatch(/would have access to .*docker\.sock/);
    }
  });

  test("refuses a folder inside the state directory", () => {
    const [problem] = configProblems({
      "herdctl.yaml": fleet(
        "working_directory: ./repo",
        'enabled: true, volumes: ["./.herdctl/jobs:/jobs:ro"]',
      ),
    });
    expect(problem?.message).toMatch(/would have access to .*\.herdctl/);
  });

  test("accepts the fleet's folder on the host", () => {
    expect(() =>
      loadTestFleet({ "herdctl.yaml": fleet("working_directory: .", "enabled: false") }),
    ).not.toThrow();
  });
});
