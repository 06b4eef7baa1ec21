import { mergeConfig } from "vitest/config";
import usual from "./vitest.config.ts";

/** `npm run test:long`: what takes minutes and is different each time. Each has the machine for itself. */
const { include: _, ...test } = usual.test ?? {};
export default mergeConfig(
  { ...usual, test },
  { test: { include: ["test/**/*.long.ts"], fileParallelism: false } },
);
