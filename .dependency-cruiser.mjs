/**
 * The architecture as a file that is checked. Work flows downwards through these folders of
 * packages/core/src; a folder may import itself and exactly what its line names, types included.
 */
const core = {
  errors: [],
  faults: [],
  lib: [],
  document: ["errors"],
  state: ["errors", "faults"],
  config: ["document", "state", "errors"],
  gateway: ["errors", "lib"],
  queue: ["config", "state", "errors"],
  runner: ["config", "state", "gateway", "errors", "faults"],
  image: ["config", "runner", "errors"],
  "herd-tools": ["config", "runner", "state", "errors"],
  "runner-process": ["herd-tools", "config", "gateway", "runner", "state", "errors", "faults"],
  triggers: ["config", "queue", "runner", "state", "errors", "faults"],
  doctor: ["document", "config", "gateway", "triggers", "runner", "state", "errors"],
  hooks: ["config", "runner", "state", "lib", "errors", "faults"],
  work: ["config", "triggers", "state", "errors"],
  chat: ["config", "queue", "triggers", "runner", "state", "errors", "faults"],
  fleet: [
    "chat",
    "config",
    "queue",
    "triggers",
    "work",
    "runner",
    "herd-tools",
    "runner-process",
    "hooks",
    "state",
    "errors",
    "faults",
  ],
};

/** Packages may import each other's public entry only, and only along these edges. */
const packages = {
  core: [],
  rehearsal: ["core"],
  server: ["core"],
  dashboard: ["server"],
  discord: ["core"],
  slack: ["core"],
  cli: ["core", "rehearsal", "server", "discord", "slack"],
};

const folderRules = Object.entries(core).map(([folder, allowed]) => ({
  name: `core/${folder} imports only ${["itself", ...allowed].join(", ")}`,
  severity: "error",
  from: { path: `^packages/core/src/${folder}/` },
  to: {
    path: "^packages/core/src/",
    pathNot: `^packages/core/src/(${[folder, ...allowed].join("|")})/`,
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
    ...folderRules,
    ...packageRules,
    {
      name: "every folder of core stands in the list above",
      severity: "error",
      from: { path: "^packages/core/src/[^/]+/" },
      to: {
        path: "^packages/core/src/[^/]+/",
        pathNot: `^packages/core/src/(${Object.keys(core).join("|")})/`,
      },
    },
    {
      name: "packages are entered by their public door",
      severity: "error",
      from: { path: "^packages/([^/]+)/" },
      to: {
        path: "^packages/[^/]+/src/",
        pathNot: [
          "^packages/$1/",
          "^packages/[^/]+/src/(index|light|state|fleet|spare|records|document|approval-text|client|contract|mcp|stand-in)\\.ts$",
        ],
      },
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
