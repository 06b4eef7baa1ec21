import { CLIRuntime, SDKRuntime } from "@herdctl/core";
import { describe } from "vitest";
import { conformance } from "../runtime/conformance.ts";
import { contained } from "../support/container.ts";
import { testEngine } from "../support/engine.ts";

const engine = await testEngine();

describe.each([
  contained(engine, "SDKRuntime", () => new SDKRuntime()),
  contained(engine, "CLIRuntime", () => new CLIRuntime()),
])("$name", conformance);
