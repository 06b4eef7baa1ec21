import { CLIRuntime, SDKRuntime } from "@herdctl/core/internal";
import { describe } from "vitest";
import { sharedEngine } from "../support/docker-engine.ts";
import { containerizedRuntime } from "../support/docker-harness.ts";
import { testSubset } from "../support/test-subset.ts";
import { optionGroups } from "./option-cases.ts";
import { describeOptionConformance } from "./option-conformance.ts";

const engine = await sharedEngine();

const runtimes = [
  containerizedRuntime(engine, "SDKRuntime", () => new SDKRuntime()),
  containerizedRuntime(engine, "CLIRuntime", () => new CLIRuntime()),
];

/** The groups whose files a container also has. */
const groups = optionGroups.filter(({ name }) => name !== "rights");

describe.each(testSubset(runtimes, 1))("$name", (runtime) => {
  describeOptionConformance(runtime, testSubset(groups, 1));
});
