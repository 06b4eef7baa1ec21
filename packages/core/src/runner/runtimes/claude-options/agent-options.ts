import type { ResolvedAgent } from "@herdctl/config";
import { buildPolicy } from "../build-settings.ts";
import { buildAllowedTools, buildDeniedTools } from "../claude-settings.ts";
import { type Channels, flag, initializeWith, listFlag, variable } from "./option-channels.ts";
import { toAgentDefinitions } from "./subagents.ts";

/**
 * How each option of an agent reaches Claude Code, on every runtime. Options that are settings of
 * Claude Code are in `build-settings.ts`, MCP servers in `private-files.ts`, and variables that
 * herdctl itself decides in `open-run.ts`.
 */
export const agentOptions = {
  // Who works.
  subagents: ({ subagents }) => initializeWith({ agents: toAgentDefinitions(subagents) }),
  main_agent: (agent) => flag("agent", agent.main_agent),
  skills: ({ skills }) => ({
    ...flag("disable-slash-commands", skills === "none"),
    ...initializeWith({ skills: Array.isArray(skills) ? skills : undefined }),
  }),
  plugins: (agent) => flag("plugin-dir", agent.plugins),

  // What they may do.
  // defence: no-repository-settings
  setting_sources: (agent) => flag("setting-sources", agent.setting_sources.join(",")),
  project_config_root: (agent) => flag("project-config-root", agent.project_config_root),
  additional_directories: (agent) => flag("add-dir", agent.additional_directories),
  permission_mode: ({ permission_mode: mode }) => ({
    flags: [
      ["permission-mode", mode],
      ...(mode === "bypassPermissions"
        ? [["allow-dangerously-skip-permissions", null] as const]
        : []),
    ],
  }),
  permission_prompts: ({ permission_prompts: prompts }) =>
    flag("permission-prompts", prompts === "none" ? prompts : undefined),
  permission_prompt_tool: (agent) => flag("permission-prompt-tool", agent.permission_prompt_tool),
  restricted: (agent) => flag("restricted", agent.restricted),
  builtin_tools: ({ builtin_tools: tools }) =>
    flag("tools", tools === "none" ? "" : Array.isArray(tools) ? tools.join(",") : tools),
  allowed_tools: (agent) =>
    listFlag("allowedTools", [...buildAllowedTools(agent), ...skillRules(agent)]),
  denied_tools: (agent) => listFlag("disallowedTools", buildDeniedTools(agent)),
  policy: (agent) => flag("managed-settings", toJson(buildPolicy(agent))),
  file_checkpointing: ({ file_checkpointing: isOn }) =>
    isOn ? { env: { CLAUDE_CODE_ENABLE_SDK_FILE_CHECKPOINTING: "true" } } : {},
  tool_aliases: ({ tool_aliases: aliases }) =>
    initializeWith({ toolAliases: Object.keys(aliases).length > 0 ? aliases : undefined }),

  // How they think.
  model: (agent) => flag("model", agent.model),
  fallback_model: (agent) => listFlag("fallback-model", agent.fallback_model),
  effort: (agent) => flag("effort", agent.effort),
  thinking: ({ thinking }) =>
    typeof thinking === "object"
      ? flag("max-thinking-tokens", thinking.budget_tokens)
      : flag("thinking", thinking),
  thinking_display: (agent) => flag("thinking-display", agent.thinking_display),
  fast_mode: ({ fast_mode: isFast }) => flag("fast-mode", isFast ? "on" : undefined),
  betas: ({ betas }) => variable("ANTHROPIC_BETAS", betas.join(",") || undefined),
  task_budget: (agent) => flag("task-budget", agent.task_budget),
  max_output_tokens: (agent) => variable("CLAUDE_CODE_MAX_OUTPUT_TOKENS", agent.max_output_tokens),
  autocompact: (agent) => flag("autocompact", agent.autocompact),
  tool_search: (agent) => variable("ENABLE_TOOL_SEARCH", agent.tool_search),
  plan_instructions: (agent) => initializeWith({ planModeInstructions: agent.plan_instructions }),
  system_prompt: ({ system_prompt: prompt }) =>
    initializeWith({
      systemPrompt: prompt?.replace,
      appendSystemPrompt: prompt?.append,
      excludeDynamicSections: prompt?.exclude_dynamic,
      systemPromptSnapshot: prompt?.snapshot,
    }),
  max_turns: (agent) => flag("max-turns", agent.max_turns),
  max_budget_usd: (agent) => flag("max-budget-usd", agent.max_budget_usd),

  // What remains of a session.
  title: (agent) => initializeWith({ title: agent.title }),
  session: ({ session }) => flag("no-session-persistence", session.mode === "ephemeral"),
  debug: (agent) => flag("debug", agent.debug),
  extra_args: (agent) => ({
    flags: Object.entries(agent.extra_args).map(([name, value]) => [
      name,
      value === true ? null : String(value),
    ]),
  }),
} satisfies Partial<Record<keyof ResolvedAgent, (agent: ResolvedAgent) => Channels>>;

function toJson(value: object | undefined): string | undefined {
  return value && JSON.stringify(value);
}

/** Skills that an agent names need no permission. */
function skillRules({ skills }: Pick<ResolvedAgent, "skills">): string[] {
  if (skills === "all") return ["Skill"];
  return Array.isArray(skills) ? skills.map((name) => `Skill(${name})`) : [];
}
