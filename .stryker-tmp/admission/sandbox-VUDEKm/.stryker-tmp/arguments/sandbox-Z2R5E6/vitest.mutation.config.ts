import { mergeConfig } from "vitest/config";
import usual from "./vitest.config.ts";

/** `npm run test:mutation`: only the test files of the group of mutants that is being tested. */
const { include: _, globalSetup: __, setupFiles: ___, ...test } = usual.test ?? {};
export default mergeConfig(
  { ...usual, test },
  { test: { include: (process.env.HERDCTL_MUTATION_TESTS ?? "").split(","), retry: 0 } },
);
