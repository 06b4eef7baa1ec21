import { describe } from "vitest";
import { everyRuntime } from "../support/runtime.ts";
import { conformance } from "./conformance.ts";

describe.each(everyRuntime)("$name", conformance);
