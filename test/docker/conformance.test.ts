import { CLIRuntime, SDKRuntime } from "@herdctl/core";
import { describe } from "vitest";
import { conformance } from "../runtime/conformance.ts";
import { promptConformance } from "../runtime/conformance-prompts.ts";
import { contained } from "../support/container.ts";
import { testEngine } from "../support/engine.ts";
import { sliceOf } from "../support/width.ts";

const engine = await testEngine();

const runtimes = [
  contained(engine, "CLIRuntime", () => new CLIRuntime()),
  contained(engine, "SDKRuntime", () => new SDKRuntime()),
];

describe.each(sliceOf(runtimes, 1))("$name", (runtime) => {
  conformance(runtime);
  promptConformance(runtime);
});
