import { z } from "zod";
import { effort, permissionMode, textOrList } from "./claude/choices.ts";
import { claudeFields } from "./claude/claude-options.ts";
import { systemPrompt } from "./claude/system-prompt.ts";
import { claudeSettingsFields } from "./claude-settings.ts";
import { docker } from "./docker.ts";
import { hooks } from "./hooks.ts";
import { chat, mcpServer, workSource } from "./integrations.ts";
import { provider } from "./provider.ts";
import { count, duration, durationOrNone, durationUpTo, size, usd } from "./quantities.ts";
import { schedule } from "./schedule.ts";
import { hostPath, name, nonEmptyText, stringMap, workspacePath } from "./strings.ts";
import {
  block,
  fleetOnly,
  free,
  granted,
  isAtMost,
  isSubset,
  isSuperset,
  keepsValue,
  stricter,
  stricterThanFleet,
} from "./trust.ts";

const selfScheduleField = <T extends z.ZodType>(schema: T) =>
  fleetOnly(schema, "the agent could start itself endlessly");

const herdToolNames = [
  "report",
  "ask",
  "artifact",
  "progress",
  "schedule",
  "memory",
  "delegate",
] as const;
export type HerdToolName = (typeof herdToolNames)[number];

const runtimeType = z.enum(["sdk", "cli"]);
export type RuntimeType = z.output<typeof runtimeType>;
const stream = z.enum(["stdout", "session-file"]);
const runtimeBlock = block({
  type: free(runtimeType.describe("`sdk`: the Agent SDK. `cli`: the `claude` program.")),
  stream: free(
    stream
      .prefault("stdout")
      .describe("Where the CLI's messages are read from: its standard output or its session file."),
  ),
});

/** `runtime: cli` is short for `runtime: { type: cli }`. */
const runtime = z.codec(
  z.union([runtimeType, runtimeBlock]),
  z.object({ type: runtimeType, stream }),
  {
    decode: (input) =>
      typeof input === "string" ? { type: input, stream: "stdout" as const } : input,
    encode: (block) => block,
  },
);

const folderBlock = block({
  path: granted(hostPath.describe("Folder the agent works in."), "folder"),
});
const cloneBlock = block({
  repo: fleetOnly(
    nonEmptyText.describe("Git repository to clone for this agent."),
    "git on the host clones it with your credentials",
  ),
  root: granted(
    hostPath.prefault("workspaces").describe("Folder in which the clone is created."),
    "folder",
  ),
  branch: free(nonEmptyText.optional().describe("Branch to check out.")),
  clone_depth: free(count.optional().describe("Number of commits to fetch.")),
});

/** `working_directory: ../repo` is short for `working_directory: { path: ../repo }`. */
const workingDirectory = z.codec(
  z.union([hostPath, folderBlock, cloneBlock]),
  z.union([z.object({ path: z.string() }), z.custom<z.output<typeof cloneBlock>>()]),
  {
    decode: (input) => (typeof input === "string" ? { path: input } : input),
    encode: (block) => block,
  },
);

const timeouts = block({
  start: stricterThanFleet(
    duration.prefault("60s").describe("Maximum time until the run shows its first activity."),
    isAtMost,
  ),
  stall: stricterThanFleet(
    duration.prefault("10m").describe("Maximum time without any activity."),
    isAtMost,
  ),
  total: stricterThanFleet(
    duration.prefault("1h").describe("Maximum duration of the whole run."),
    isAtMost,
  ),
});

const retry = block({
  max_attempts: stricter(
    z
      .int()
      .min(1)
      .max(100)
      .prefault(3)
      .describe("Maximum number of attempts, including the first."),
    isAtMost,
  ),
  backoff: free(
    duration
      .prefault("30s")
      .describe("Delay before the second attempt; doubles with each further attempt."),
  ),
});

export const budget = block({
  daily_usd: stricter(usd.optional().describe("Maximum cost per day in US dollars."), isAtMost),
  daily_jobs: stricter(count.optional().describe("Maximum number of jobs per day."), isAtMost),
  daily_tokens: stricter(count.optional().describe("Maximum number of tokens per day."), isAtMost),
});

const session = block({
  mode: free(
    z
      .enum(["fresh", "persistent", "ephemeral"])
      .prefault("fresh")
      .describe(
        "`fresh`: each run starts a new session. `persistent`: each run resumes the last session. `ephemeral`: Claude Code keeps no transcript, so a session cannot be resumed.",
      ),
  ),
  expires: free(
    duration.prefault("24h").describe("Age after which a session is no longer resumed."),
  ),
});

const keepAlive = block({
  sessions: stricter(
    durationOrNone
      .prefault("10m")
      .describe(
        "How long the `claude` process of a conversation waits for the next message. `0s` turns this off.",
      ),
    isAtMost,
  ),
  processes: stricter(
    z
      .int()
      .min(0)
      .max(16)
      .prefault(0)
      .describe("Number of `claude` processes to start ahead of jobs. Each takes about 140 MB."),
    isAtMost,
  ),
});

const ask = block({
  // Claude Code cancels a tool call after 27 hours.
  timeout: free(
    durationUpTo(24 * 3_600_000)
      .prefault("30m")
      .describe("How long a question waits for an answer; at most 24h."),
  ),
  use_default: stricter(
    z
      .boolean()
      .prefault(false)
      .describe("Use the agent's default answer when the timeout expires."),
    keepsValue(false),
  ),
});

const maySchedule = block({
  max_pending: selfScheduleField(
    count.describe("Maximum number of planned runs that are pending at the same time."),
  ),
  min_delay: selfScheduleField(
    duration.prefault("5m").describe("Minimum delay before a planned run."),
  ),
  prompts: selfScheduleField(
    z
      .array(nonEmptyText)
      .optional()
      .describe("Prompts the agent may plan; `*` matches any text. Default: any prompt."),
  ),
});

/** All fields of an agent except its name. `defaults` and `overrides` may set any of them. */
const agentFields = {
  description: free(z.string().optional().describe("Purpose of the agent.")),
  labels: free(
    z
      .array(name)
      .prefault([])
      .describe("Labels by which the dashboard groups agents, such as a team."),
  ),
  working_directory: granted(
    workingDirectory
      .optional()
      .describe(
        "Folder the agent works in, or a repository to clone for it. Default: the fleet file's folder.",
      ),
    "folder",
  ),
  runtime: free(
    runtime
      .prefault("sdk")
      .describe("`sdk`: the Agent SDK. `cli`: the `claude` program, which can use a subscription."),
  ),
  credential: fleetOnly(
    z
      .enum(["auto", "subscription", "api_key"])
      .prefault("auto")
      .describe("Credential the agent uses."),
    "it decides which account pays",
  ),
  provider: fleetOnly(
    provider
      .optional()
      .describe(
        "Service that serves the models. Default: `anthropic`, or what `CLAUDE_CODE_USE_BEDROCK` and similar variables choose.",
      ),
    "it decides who receives the prompts and which account pays",
  ),
  model: free(nonEmptyText.optional().describe("Model to use. Default: Claude Code's default.")),
  fallback_model: free(
    textOrList
      .optional()
      .describe("Model, or models in order, to use when the first one is overloaded."),
  ),
  effort: free(effort.optional().describe("Reasoning effort of the model.")),
  max_turns: stricter(count.optional().describe("Maximum number of turns per run."), isAtMost),
  max_budget_usd: stricter(
    usd
      .optional()
      .describe(
        "Maximum cost of a job in US dollars, over all its attempts; checked after each model call.",
      ),
    isAtMost,
  ),
  system_prompt: free(
    systemPrompt
      .optional()
      .describe("Text added to Claude Code's system prompt, or a block that changes it."),
  ),
  default_prompt: free(nonEmptyText.optional().describe("Prompt for triggers that bring none.")),
  prompts: fleetOnly(
    z
      .enum(["verbatim", "expanded"])
      .prefault("verbatim")
      .describe(
        "`verbatim`: prompts are sent as written. `expanded`: `@path` and `/command` take effect in prompts that the operator wrote; text from outside is still sent as written.",
      ),
    "`@server:uri` in a prompt reads from MCP servers on the host without asking",
  ),
  permission_mode: free(
    permissionMode
      .prefault("default")
      .describe("How Claude Code handles tools that need permission."),
  ),
  allowed_tools: granted(
    z.array(nonEmptyText).prefault([]).describe("Tools that need no permission."),
    "tool_rules",
  ),
  denied_tools: stricter(
    z.array(nonEmptyText).prefault([]).describe("Tools the agent cannot use."),
    isSuperset,
  ),
  self_wakeup: free(
    z
      .boolean()
      .prefault(false)
      .describe(
        "Allow a session to start later turns itself, with `CronCreate` or `ScheduleWakeup`.",
      ),
  ),
  mcp_servers: granted(
    z.record(name, mcpServer).prefault({}).describe("MCP servers of the agent, by name."),
    "container_server",
  ),
  setting_sources: stricter(
    z
      .array(z.enum(["user", "project", "local"]))
      .prefault(["user"])
      .describe("Claude Code settings to load; `project` trusts the repository."),
    isSubset,
  ),
  ...claudeSettingsFields,
  plugins: fleetOnly(
    z.array(hostPath).prefault([]).describe("Folders or archives of Claude Code plugins."),
    "it mounts folders of the host",
  ),
  file_checkpointing: free(
    z
      .boolean()
      .prefault(false)
      .describe("Let Claude Code back up each file before `Edit` or `Write` changes it."),
  ),
  ...claudeFields,
  env: free(stringMap.prefault({}).describe("Environment variables of the agent.")),
  session: free(session.prefault({}).describe("Whether runs share a session.")),
  max_concurrent: stricter(
    count.prefault(1).describe("Maximum number of runs at the same time."),
    isAtMost,
  ),
  priority: stricter(
    z
      .int()
      .min(-100)
      .max(100)
      .prefault(0)
      .describe("Order of waiting jobs; higher values start first."),
    isAtMost,
  ),
  keep_alive: free(keepAlive.prefault({}).describe("Processes to keep ready.")),
  timeouts: free(timeouts.prefault({}).describe("Time limits of a run.")),
  max_log_size: stricter(
    size
      .prefault("256m")
      .describe("Maximum size of a job's log. Further messages are dropped, except the result."),
    isAtMost,
  ),
  retry: free(retry.prefault({}).describe("Retries after temporary failures.")),
  budget: free(budget.prefault({}).describe("Daily limits.")),
  metadata_file: fleetOnly(
    workspacePath
      .optional()
      .describe("JSON file in the working directory that the agent writes for hooks."),
    "hooks on the host act on it",
  ),
  tools: free(
    z.array(z.enum(herdToolNames)).prefault([]).describe("Fleet tools that the agent may use."),
  ),
  ask: free(ask.prefault({}).describe("How the agent's questions to people are handled.")),
  may_trigger: granted(
    z
      .array(nonEmptyText)
      .prefault([])
      .describe("Agents it may delegate to; `*` matches any part of a name."),
    "agents",
  ),
  may_schedule: fleetOnly(
    maySchedule.optional().describe("Limits for runs that the agent plans for itself."),
    "the agent could start itself endlessly",
  ),
  runs_on: stricter(
    z
      .array(name)
      .prefault([])
      .describe("Labels a machine must have to run the agent. Default: any machine."),
    isSuperset,
  ),
  when_node_gone: free(
    z
      .enum(["wait", "move"])
      .prefault("move")
      .describe(
        "If the machine with the session is gone: wait for it, or move to another machine with a new session.",
      ),
  ),
  schedules: free(
    z.record(name, schedule).prefault({}).describe("Schedules that start the agent, by name."),
  ),
  hooks: fleetOnly(hooks.prefault({}).describe("Actions after a run."), "hooks run on the host"),
  docker: free(docker.prefault({}).describe("Container of the agent.")),
  chat: fleetOnly(
    chat.optional().describe("Chat platforms on which the agent answers."),
    "it decides who can talk to the agent, where, and with which token",
  ),
  work_source: fleetOnly(
    workSource.optional().describe("Where the agent finds work items."),
    "it uses the fleet's token",
  ),
};

/** An agent, as in an agent file. */
export const agentSchema = block({
  name: free(name.describe("Name of the agent, unique in its fleet.")),
  ...agentFields,
});

export type AgentConfig = z.output<typeof agentSchema>;

/** The permission fields of an agent as one block, for agents that a program writes. */
export const PermissionsSchema = z.strictObject({
  mode: agentFields.permission_mode,
  allowed_tools: agentFields.allowed_tools,
  denied_tools: agentFields.denied_tools,
});
