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

/**
 * What the seed documents ask for, in percent. The wide round also measures branches, because it has
 * every test and counts the programs that tests start.
 */
const bound = (percent: number) => ({ lines: percent, ...(isWide && { branches: percent }) });
const coverageBounds = {
  "packages/core/src/runner/**": bound(90),
  "packages/core/src/runner/runtimes/**": bound(85),
  "packages/config/src/**": bound(85),
};

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
    // The load of a CI machine is unknown. Its run lists the tests that were retried.
    retry: process.env.CI ? 1 : 0,
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // A Docker engine with containers takes its time to go.
    teardownTimeout: 120_000,
    coverage: {
      provider: "custom",
      customProviderModule: "test/code-coverage/coverage-provider.ts",
      include: isWide ? ["packages/*/src/**"] : Object.keys(coverageBounds),
      exclude: ["packages/cli/src/**"],
      reporter: ["text-summary", "json-summary"],
      reportOnFailure: true,
      thresholds: coverageBounds,
    },
  },
});
