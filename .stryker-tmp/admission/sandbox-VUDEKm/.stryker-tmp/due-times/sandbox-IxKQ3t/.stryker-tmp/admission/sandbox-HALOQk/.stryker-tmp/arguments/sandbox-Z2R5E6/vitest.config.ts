import { isBuiltin } from "node:module";
import { fileURLToPath } from "node:url";
import { configDefaults, defineConfig } from "vitest/config";
import { SlowestFirstSequencer } from "./test/slowest-first-sequencer.ts";
import { isWide } from "./test/support/test-subset.ts";
import wideOnly from "./test/wide-only-tests.json" with { type: "json" };
import tsconfig from "./tsconfig.json" with { type: "json" };

if (!isBuiltin("node:sqlite")) {
  throw new Error("Use Node 22.13 or newer: `node scripts/in-checkout.mjs vitest run …` gets one.");
}

/** What `npm test` leaves to `npm run test:wide`, because others show nearly the same. */
const leftOut = isWide ? [] : wideOnly;

const source = (path: string) => fileURLToPath(new URL(path, import.meta.url));

export default defineConfig({
  resolve: {
    // Our own packages are tested from their source, where TypeScript finds them as well.
    alias: Object.entries(tsconfig.compilerOptions.paths).map(([name, [file]]) => ({
      find: new RegExp(`^${name}$`),
      replacement: source(file ?? ""),
    })),
  },
  test: {
    include: ["test/**/*.test.ts"],
    exclude: [...configDefaults.exclude, ...leftOut],
    globalSetup: ["test/global-setup.ts"],
    setupFiles: ["test/open-handle-check.ts", "test/code-coverage/enable-process-coverage.ts"],
    sequence: { sequencer: SlowestFirstSequencer },
    pool: "forks",
    // Most tests wait for processes most of the time.
    maxWorkers: 3,
    // Real processes on a busy machine; scripts/retried-tests-reporter.mjs names those that needed it.
    retry: 1,
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // A Docker engine with containers takes its time to go.
    teardownTimeout: 120_000,
    coverage: {
      provider: "custom",
      customProviderModule: "test/code-coverage/coverage-provider.ts",
      include: ["packages/*/src/**"],
      exclude: ["packages/cli/src/**"],
      reporter: ["text-summary", "json-summary"],
      reportOnFailure: true,
      // What the seed documents ask for; measured in the wide round, which has every test.
      thresholds: {
        "packages/core/src/runner/**": { lines: 90, branches: 90 },
        "packages/core/src/runner/runtimes/**": { lines: 85, branches: 85 },
        "packages/config/src/**": { lines: 85, branches: 85 },
      },
    },
  },
});
