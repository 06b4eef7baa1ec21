import { CLIRuntime, SDKRuntime } from "@herdctl/core/internal";
import { describe } from "vitest";
import type { RuntimeUnderTest } from "../support/runtimes-under-test.ts";
import { describeOptionConformance } from "./option-conformance.ts";

const runtimes: RuntimeUnderTest[] = [
  { name: "SDKRuntime", version: "325", create: () => new SDKRuntime() },
  { name: "CLIRuntime", version: "325", create: () => new CLIRuntime() },
];

describe.each(runtimes)("$name", (runtime) => describeOptionConformance(runtime));
