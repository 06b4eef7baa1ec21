import type { ResolvedAgent } from "@herdctl/config";
import { buildPolicy } from "../build-settings.ts";
import { buildAllowedTools, buildDeniedTools } from "../claude-settings.ts";
import { type Channels, flag, initializeWith, listFlag } from "./option-channels.ts";

/**
 * How each option of an agent reaches Claude Code, on every runtime. Options that are settings of
 * Claude Code are in `build-settings.ts`, and variables that herdctl itself decides in `open-run.ts`.
 */
export const agentOptions = {
  // defence: no-repository-settings
  setting_sources: (agent) => flag("setting-sources", agent.setting_sources.join(",")),
  permission_mode: ({ permission_mode: mode }) => ({
    flags: [
      ["permission-mode", mode],
      ...(mode === "bypassPermissions"
        ? [["allow-dangerously-skip-permissions", null] as const]
        : []),
    ],
  }),
  allowed_tools: (agent) => listFlag("allowedTools", buildAllowedTools(agent)),
  denied_tools: (agent) => listFlag("disallowedTools", buildDeniedTools(agent)),
  policy: (agent) => flag("managed-settings", toJson(buildPolicy(agent))),
  file_checkpointing: ({ file_checkpointing: isOn }) =>
    isOn ? { env: { CLAUDE_CODE_ENABLE_SDK_FILE_CHECKPOINTING: "true" } } : {},
  plugins: (agent) => flag("plugin-dir", agent.plugins),
  model: (agent) => flag("model", agent.model),
  fallback_model: (agent) => flag("fallback-model", agent.fallback_model),
  effort: (agent) => flag("effort", agent.effort),
  max_turns: (agent) => flag("max-turns", agent.max_turns),
  max_budget_usd: (agent) => flag("max-budget-usd", agent.max_budget_usd),
  system_prompt: (agent) => initializeWith({ appendSystemPrompt: agent.system_prompt }),
} satisfies Partial<Record<keyof ResolvedAgent, (agent: ResolvedAgent) => Channels>>;

function toJson(value: object | undefined): string | undefined {
  return value && JSON.stringify(value);
}
