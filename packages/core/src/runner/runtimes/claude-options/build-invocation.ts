import type { ClaudeSettings } from "@herdctl/config";
import { buildPolicy, buildSettings } from "../build-settings.ts";
import { type PrivateFiles, writePrivateFiles } from "../private-files.ts";
import type { ExecuteOptions } from "../runtime-interface.ts";
import { agentOptions } from "./agent-options.ts";
import { type Channels, flag, initializeWith, mergeChannels } from "./option-channels.ts";

/** Everything that one run passes to `claude`, however the runtime delivers it. */
export interface Invocation extends Required<Channels> {
  settings: ClaudeSettings;
  policy: ClaudeSettings | undefined;
  files: PrivateFiles;
}

/**
 * Builds the invocation of a run and writes its private files. `announcedServers` are the bridged MCP
 * servers to list in the MCP configuration.
 */
export function buildInvocation(
  options: ExecuteOptions,
  announcedServers: readonly string[] = [],
): Invocation {
  const { agent } = options;
  const ofAgent = mergeChannels(Object.values(agentOptions).map((option) => option(agent)));
  const env = { ...options.env, ...ofAgent.env };
  const settings = buildSettings({ ...options, env }, Object.keys(ofAgent.env));
  const files = writePrivateFiles(options, { settings, announcedServers });
  return {
    ...mergeChannels([runOptions(options, files), ofAgent]),
    env,
    settings,
    policy: buildPolicy(agent),
    files,
  };
}

/** Flags of this run, apart from the configuration of its agent. */
function runOptions(options: ExecuteOptions, files: PrivateFiles): Channels {
  return mergeChannels([
    // defence: strict-mcp-config
    flag("strict-mcp-config", true),
    flag("mcp-config", /* defence: private-mcp-config */ files.mcpConfig),
    flag("settings", files.settings),
    flag("append-subagent-system-prompt-file", files.subagentPrompt),
    flag("add-dir", [options.cwd]),
    flag("include-partial-messages", options.partialMessages),
    flag("include-hook-events", true),
    initializeWith({ forwardSubagentText: true }),
    ...sessionOptions(options.session),
  ]);
}

function sessionOptions(session: ExecuteOptions["session"]): Channels[] {
  if (session.kind === "fresh") return [flag("session-id", session.sessionId)];
  if (session.kind === "resume") return [flag("resume", session.sessionId)];
  return [
    flag("resume", session.from),
    flag("fork-session", true),
    flag("resume-session-at", session.at),
    flag("session-id", session.sessionId),
  ];
}
