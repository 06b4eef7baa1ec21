import { describe } from "vitest";
import { runtimes } from "../support/runtime.ts";
import { conformance } from "./conformance.ts";

describe.each(runtimes)("$name", conformance);
