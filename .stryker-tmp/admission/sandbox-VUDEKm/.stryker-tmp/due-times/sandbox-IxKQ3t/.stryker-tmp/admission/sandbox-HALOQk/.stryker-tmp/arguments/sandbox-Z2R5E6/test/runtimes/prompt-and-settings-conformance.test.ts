import { describe } from "vitest";
import { allRuntimes, sessionFileRuntimes } from "../support/runtimes-under-test.ts";
import { describePromptConformance } from "./runtime-conformance-prompts.ts";
import { describeSettingsConformance } from "./runtime-conformance-settings.ts";
import { describeSubagentConformance } from "./runtime-conformance-subagents.ts";

// All versions in every round, because older ones get the prompt in another way.
describe.each([...allRuntimes, ...sessionFileRuntimes])("$name", (runtime) => {
  describePromptConformance(runtime);
  describeSettingsConformance(runtime);
  describeSubagentConformance(runtime);
});
