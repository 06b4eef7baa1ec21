import { deniedTools, settingsOf } from "./claude-settings.ts";
import type { ExecuteOptions } from "./interface.ts";
import type { PrivateFiles } from "./private-files.ts";

/**
 * The flags of one run, the same for both runtimes: what the SDK would pass for these options is
 * what we pass. Anything that could hold a secret goes by file; the prompt goes by standard input.
 */
export function claudeArguments(
  options: ExecuteOptions,
  files: Pick<PrivateFiles, "mcpConfig" | "systemPrompt">,
): string[] {
  const { agent } = options;
  const bypass = agent.permission_mode === "bypassPermissions";
  return [
    ...flag("--setting-sources", agent.setting_sources.join(",")),
    "--strict-mcp-config",
    ...flag("--mcp-config", files.mcpConfig),
    ...flag("--settings", JSON.stringify(settingsOf(options))),
    ...flag("--permission-mode", agent.permission_mode),
    ...(bypass ? ["--allow-dangerously-skip-permissions"] : []),
    ...flag("--add-dir", options.cwd),
    ...flag("--allowedTools", agent.allowed_tools.join(",")),
    ...flag("--disallowedTools", deniedTools(agent).join(",")),
    ...flag("--append-system-prompt-file", files.systemPrompt),
    ...flag("--model", agent.model),
    ...flag("--fallback-model", agent.fallback_model),
    ...flag("--effort", agent.effort),
    ...flag("--max-turns", agent.max_turns),
    ...flag("--max-budget-usd", agent.max_budget_usd),
    ...agent.plugins.flatMap((path) => flag("--plugin-dir", path)),
    ...sessionFlags(options.session),
  ];
}

function sessionFlags(session: ExecuteOptions["session"]): string[] {
  if (session.kind === "fresh") return flag("--session-id", session.sessionId);
  if (session.kind === "resume") return flag("--resume", session.sessionId);
  return [
    ...flag("--resume", session.from),
    "--fork-session",
    ...flag("--resume-session-at", session.at),
    ...flag("--session-id", session.sessionId),
  ];
}

function flag(name: string, value: string | number | undefined): string[] {
  return value === undefined || value === "" ? [] : [`${name}=${value}`];
}
