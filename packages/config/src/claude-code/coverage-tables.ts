import { cliFlags } from "./cli-flags.ts";
import { sdkOptions } from "./sdk-options.ts";
import { settingsKeys } from "./settings-keys.ts";

export type { Coverage, CoverageTable } from "./coverage.ts";

/** What of Claude Code an agent can configure, by the name that Claude Code uses. */
export const claudeCoverage = { sdkOptions, cliFlags, settingsKeys };
