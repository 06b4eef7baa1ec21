import { mergeConfig } from "vitest/config";
import { listUnitTests } from "./test/list-unit-tests.ts";
import wideOnly from "./test/wide-only-tests.json" with { type: "json" };
import usual from "./vitest.config.ts";

/** `npm run test:unit`: pure and in-process tests, for the inner loop. */
const { include: _, globalSetup: __, ...test } = usual.test ?? {};
export default mergeConfig({ ...usual, test }, { test: { include: listUnitTests(wideOnly) } });
