import { describe } from "vitest";
import { runtimes } from "../support/runtimes-under-test.ts";
import { describeRuntimeConformance } from "./runtime-conformance.ts";

describe.each(runtimes)("$name", describeRuntimeConformance);
