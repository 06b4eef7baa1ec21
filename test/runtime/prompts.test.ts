import { describe } from "vitest";
import { everyRuntime, sessionFileRuntimes } from "../support/runtime.ts";
import { promptConformance } from "./conformance-prompts.ts";
import { settingsConformance } from "./conformance-settings.ts";

// All versions in every round: older ones are told the same in another way.
describe.each([...everyRuntime, ...sessionFileRuntimes])("$name", (runtime) => {
  promptConformance(runtime);
  settingsConformance(runtime);
});
