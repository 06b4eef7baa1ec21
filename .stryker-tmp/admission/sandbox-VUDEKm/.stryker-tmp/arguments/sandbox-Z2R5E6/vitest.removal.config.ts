import { configDefaults, mergeConfig } from "vitest/config";
import usual from "./vitest.config.ts";

/** For test/security/checkout-copy.ts: one test file in a copy of the checkout, by whoever cleans up after it. */
const { globalSetup: _, exclude: __, ...test } = usual.test ?? {};
export default mergeConfig(
  { ...usual, test },
  { test: { exclude: configDefaults.exclude, retry: 0, fileParallelism: false } },
);
