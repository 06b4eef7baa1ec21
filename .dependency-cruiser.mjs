/**
 * The architecture as a file that is checked, types included. Each line names a folder and the
 * folders that it may import besides itself; a folder that is not listed fails the check.
 */

/** packages/core/src, by process: see ARCHITECTURE.md. */
const core = {
  // Shared by both processes.
  testing: [],
  lib: ["testing"],
  store: ["lib", "testing"],
  "process-tree": ["lib"],
  claude: ["process-tree", "lib"],
  docker: ["claude", "store", "lib", "testing"],
  image: ["docker", "claude", "lib"],
  workspaces: ["docker", "process-tree", "lib"],
  "private-git": ["workspaces", "docker", "process-tree", "lib", "testing"],
  // The runner process. Fleet folders enter it by `contract` and `recovery` only, see below.
  runner: [
    "image",
    "private-git",
    "workspaces",
    "claude",
    "docker",
    "process-tree",
    "store",
    "lib",
    "testing",
  ],
  // The fleet process.
  "runner-pool": ["runner", "store", "lib"],
  jobs: [
    "runner-pool",
    "runner",
    "private-git",
    "workspaces",
    "claude",
    "docker",
    "process-tree",
    "store",
    "lib",
    "testing",
  ],
  cluster: ["jobs", "runner", "claude", "process-tree", "store", "lib", "testing"],
  triggers: ["jobs", "store", "lib", "testing"],
  hooks: ["process-tree", "store", "lib", "testing"],
  fleet: [
    "cluster",
    "hooks",
    "triggers",
    "jobs",
    "runner-pool",
    "runner",
    "claude",
    "store",
    "lib",
    "testing",
  ],
  // In the process of a caller.
  standalone: ["jobs", "runner", "store", "lib"],
  backup: ["claude", "process-tree", "store", "lib"],
  doctor: [
    "backup",
    "image",
    "triggers",
    "runner",
    "workspaces",
    "claude",
    "docker",
    "process-tree",
    "store",
    "lib",
  ],
};

/** Folders below one of the above, where the order of layers matters as well. */
const folders = {
  "store/model": [],
  "store/files": ["store/model"],
  "store/sql": ["store/model"],
  "store/sqlite": ["store/sql", "store/model", "store/files"],
  "store/postgres": ["store/sql", "store/model", "store/files"],
  "runner/contract": [],
  "runner/gateway": ["runner/contract"],
};

/** Packages import each other's public entries, and only along these edges. */
const packages = {
  protocol: [],
  config: ["protocol"],
  core: ["config", "protocol"],
  rehearsal: ["config", "protocol"],
  server: ["core", "config", "protocol"],
  dashboard: ["server", "protocol"],
  discord: ["core", "protocol"],
  slack: ["core", "protocol"],
  cli: ["core", "config", "protocol", "rehearsal", "server", "discord", "slack"],
};

const src = "^packages/core/src";

const layerRules = Object.entries(core).map(([folder, allowed]) => ({
  name: `core/${folder} imports only ${["itself", ...allowed].join(", ")}`,
  severity: "error",
  from: { path: `${src}/${folder}/` },
  to: { path: `${src}/`, pathNot: `${src}/(${[folder, ...allowed].join("|")})/` },
}));

const folderRules = Object.entries(folders).map(([folder, allowed]) => ({
  name: `core/${folder} imports of its siblings only ${["itself", ...allowed].join(", ")}`,
  severity: "error",
  from: { path: `${src}/${folder}/` },
  to: {
    path: `${src}/${folder.split("/")[0]}/`,
    pathNot: `${src}/(${[folder, ...allowed].join("|")})/`,
  },
}));

const packageRules = Object.entries(packages).map(([name, allowed]) => ({
  name: `packages/${name} imports only ${["itself", ...allowed].join(", ")}`,
  severity: "error",
  from: { path: `^packages/${name}/` },
  to: { path: "^packages/", pathNot: `^packages/(${[name, ...allowed].join("|")})/` },
}));

export default {
  forbidden: [
    ...layerRules,
    ...folderRules,
    ...packageRules,
    {
      name: "the fleet process enters runner/ by its interface: contract and recovery",
      severity: "error",
      from: { path: `${src}/(cluster|runner-pool|jobs|triggers|hooks|fleet)/` },
      to: { path: `${src}/runner/`, pathNot: `${src}/runner/(contract|recovery)/` },
    },
    {
      name: "every folder of core is in the list above",
      severity: "error",
      from: { path: `${src}/[^/]+/` },
      to: { path: `${src}/[^/]+/`, pathNot: `${src}/(${Object.keys(core).join("|")})/` },
    },
    {
      name: "packages are entered by their public entries",
      severity: "error",
      from: { path: "^packages/([^/]+)/" },
      to: {
        path: "^packages/[^/]+/src/",
        pathNot: [
          "^packages/$1/",
          "^packages/[^/]+/src/(index|internal|schemas|client|contract|mcp|stand-in)\\.ts$",
        ],
      },
    },
    {
      name: "chat connectors use the public API of core",
      severity: "error",
      from: { path: "^packages/(discord|slack)/" },
      to: { path: "^packages/core/src/internal\\.ts$" },
    },
    { name: "no cycles", severity: "error", from: {}, to: { circular: true } },
  ],
  options: {
    tsPreCompilationDeps: true,
    tsConfig: { fileName: "tsconfig.json" },
    doNotFollow: { path: "node_modules" },
    exclude: { path: "/dist/|^packages/server/dashboard/" },
    enhancedResolveOptions: { exportsFields: ["exports"], conditionNames: ["import", "default"] },
  },
};
