import { CLIRuntime, SDKRuntime } from "@herdctl/core/internal";
import { describe } from "vitest";
import { describeRuntimeConformance } from "../runtimes/runtime-conformance.ts";
import { describePromptConformance } from "../runtimes/runtime-conformance-prompts.ts";
import { describeSubagentConformance } from "../runtimes/runtime-conformance-subagents.ts";
import { sharedEngine } from "../support/docker-engine.ts";
import { containerizedRuntime } from "../support/docker-harness.ts";
import { testSubset } from "../support/test-subset.ts";

const engine = await sharedEngine();

const runtimes = [
  containerizedRuntime(engine, "CLIRuntime", () => new CLIRuntime()),
  containerizedRuntime(engine, "SDKRuntime", () => new SDKRuntime()),
];

describe.each(testSubset(runtimes, 1))("$name", (runtime) => {
  describeRuntimeConformance(runtime);
  describePromptConformance(runtime);
  describeSubagentConformance(runtime);
});
