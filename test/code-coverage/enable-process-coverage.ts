import { expect } from "vitest";
import { isWide } from "../support/test-subset.ts";

/**
 * Test files whose programs collect coverage in `npm test`: together they run the code of the runner
 * process that no test runs in process. Counting every program would take minutes.
 */
const countedFiles = [
  "agent-tools/report.test.ts",
  "docker/keep-alive.test.ts",
  "fleet/crash-recovery.test.ts",
  "fleet/fleet-manager.test.ts",
];

/*
 * With coverage enabled, programs that tests start collect coverage as well. Node passes this
 * variable on to child processes even if they get another environment.
 */
const coverageFolder = process.env.HERDCTL_COUNTED_IN;
const { testPath = "" } = expect.getState();
const isCounted = isWide || countedFiles.some((file) => testPath.endsWith(`test/${file}`));
if (coverageFolder !== undefined && isCounted) process.env.NODE_V8_COVERAGE = coverageFolder;
