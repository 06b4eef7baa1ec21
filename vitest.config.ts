import { fileURLToPath } from "node:url";
import { configDefaults, defineConfig } from "vitest/config";
import { LongestFirst } from "./test/longest-first.ts";
import { isWide } from "./test/support/width.ts";
import wideOnly from "./test/wide-only.json" with { type: "json" };

/** What `npm test` leaves to `npm run test:wide`, because others show nearly the same. */
const leftOut = isWide ? [] : wideOnly;

const source = (path: string) => fileURLToPath(new URL(path, import.meta.url));

export default defineConfig({
  resolve: {
    alias: [
      { find: /^@herdctl\/core$/, replacement: source("packages/core/src/index.ts") },
      { find: /^@herdctl\/core\/light$/, replacement: source("packages/core/src/light.ts") },
      { find: /^@herdctl\/core\/state$/, replacement: source("packages/core/src/state.ts") },
      { find: /^@herdctl\/core\/fleet$/, replacement: source("packages/core/src/fleet.ts") },
      { find: /^@herdctl\/core\/spare$/, replacement: source("packages/core/src/spare.ts") },
      { find: /^@herdctl\/core\/records$/, replacement: source("packages/core/src/records.ts") },
      { find: /^@herdctl\/core\/document$/, replacement: source("packages/core/src/document.ts") },
      {
        find: /^@herdctl\/core\/approval-text$/,
        replacement: source("packages/core/src/approval-text.ts"),
      },
      { find: /^@herdctl\/server$/, replacement: source("packages/server/src/index.ts") },
      { find: /^@herdctl\/server\/client$/, replacement: source("packages/server/src/client.ts") },
      {
        find: /^@herdctl\/server\/contract$/,
        replacement: source("packages/server/src/contract.ts"),
      },
      { find: /^@herdctl\/server\/mcp$/, replacement: source("packages/server/src/mcp.ts") },
      { find: /^@herdctl\/discord$/, replacement: source("packages/discord/src/index.ts") },
      {
        find: /^@herdctl\/discord\/stand-in$/,
        replacement: source("packages/discord/src/stand-in.ts"),
      },
      { find: /^@herdctl\/slack$/, replacement: source("packages/slack/src/index.ts") },
      {
        find: /^@herdctl\/slack\/stand-in$/,
        replacement: source("packages/slack/src/stand-in.ts"),
      },
      { find: /^@herdctl\/rehearsal$/, replacement: source("packages/rehearsal/src/index.ts") },
    ],
  },
  test: {
    include: ["test/**/*.test.ts"],
    exclude: [...configDefaults.exclude, ...leftOut],
    globalSetup: ["test/global-setup.ts"],
    setupFiles: ["test/no-leaks.ts", "test/counting/in-programs.ts"],
    sequence: { sequencer: LongestFirst },
    pool: "forks",
    // Most tests wait for processes most of the time.
    maxWorkers: 3,
    // Real processes on a busy machine; scripts/second-tries.mjs names those that needed it.
    retry: 1,
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // A Docker engine with containers takes its time to go.
    teardownTimeout: 120_000,
    coverage: {
      provider: "custom",
      customProviderModule: "test/counting/provider.ts",
      include: ["packages/*/src/**"],
      exclude: ["packages/cli/src/**"],
      reporter: ["text-summary", "json-summary"],
      reportOnFailure: true,
      // What the seed documents ask for; measured in the wide round, which has every test.
      thresholds: {
        "packages/core/src/runner/**": { lines: 90, branches: 90 },
        "packages/core/src/runner/runtime/**": { lines: 85, branches: 85 },
        "packages/core/src/config/**": { lines: 85, branches: 85 },
        "packages/core/src/document/**": { lines: 85, branches: 85 },
      },
    },
  },
});
