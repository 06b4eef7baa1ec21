import type { PrivateFiles } from "./claude-settings.ts";
import { buildAllowedTools, buildDeniedTools, buildSettings } from "./claude-settings.ts";
import type { ExecuteOptions } from "./runtime-interface.ts";

/**
 * The flags of one run, identical to those that the SDK passes for the same options. Values that may
 * contain secrets are passed in files, the prompt on stdin.
 */
export function buildClaudeArguments(
  options: ExecuteOptions,
  files: Pick<PrivateFiles, "mcpConfig" | "systemPrompt">,
): string[] {
  const { agent } = options;
  const bypassesPermissions = agent.permission_mode === "bypassPermissions";
  return [
    // defence: no-repository-settings
    ...formatFlag("--setting-sources", agent.setting_sources.join(",")),
    // defence: strict-mcp-config
    "--strict-mcp-config",
    ...formatFlag("--mcp-config", /* defence: private-mcp-config */ files.mcpConfig),
    ...formatFlag("--settings", JSON.stringify(buildSettings(options))),
    ...formatFlag("--permission-mode", agent.permission_mode),
    ...(bypassesPermissions ? ["--allow-dangerously-skip-permissions"] : []),
    ...formatFlag("--add-dir", options.cwd),
    ...formatFlag("--allowedTools", buildAllowedTools(agent).join(",")),
    ...formatFlag("--disallowedTools", buildDeniedTools(agent).join(",")),
    ...formatFlag("--append-system-prompt-file", files.systemPrompt),
    ...formatFlag("--model", agent.model),
    ...formatFlag("--fallback-model", agent.fallback_model),
    ...formatFlag("--effort", agent.effort),
    ...formatFlag("--max-turns", agent.max_turns),
    ...formatFlag("--max-budget-usd", agent.max_budget_usd),
    ...agent.plugins.flatMap((path) => formatFlag("--plugin-dir", path)),
    ...sessionFlags(options.session),
  ];
}

function sessionFlags(session: ExecuteOptions["session"]): string[] {
  if (session.kind === "fresh") return formatFlag("--session-id", session.sessionId);
  if (session.kind === "resume") return formatFlag("--resume", session.sessionId);
  return [
    ...formatFlag("--resume", session.from),
    "--fork-session",
    ...formatFlag("--resume-session-at", session.at),
    ...formatFlag("--session-id", session.sessionId),
  ];
}

function formatFlag(name: string, value: string | number | undefined): string[] {
  return value === undefined || value === "" ? [] : [`${name}=${value}`];
}

/** Flags for streams of JSON messages on stdin and stdout. */
export function buildStreamFlags({
  onPermission,
  partialMessages,
}: Pick<ExecuteOptions, "onPermission" | "partialMessages">): string[] {
  return [
    "-p",
    "--output-format=stream-json",
    "--verbose",
    "--input-format=stream-json",
    ...(onPermission ? ["--permission-prompt-tool=stdio"] : []),
    ...(partialMessages ? ["--include-partial-messages"] : []),
  ];
}
