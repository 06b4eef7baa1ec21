import { describe } from "vitest";
import { everyRuntime, sessionFileRuntimes } from "../support/runtime.ts";
import { promptConformance } from "./conformance-prompts.ts";

// All versions in every round: older ones keep a prompt verbatim in another way.
describe.each([...everyRuntime, ...sessionFileRuntimes])("$name", promptConformance);
