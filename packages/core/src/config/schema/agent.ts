import { z } from "zod";
import { chat } from "./chat.ts";
import { docker } from "./docker.ts";
import { hooks } from "./hooks.ts";
import { mcpServer } from "./mcp.ts";
import { count, duration, durationOrNone, durationUpTo, usd } from "./quantities.ts";
import { schedule } from "./schedule.ts";
import { hostPath, insidePath, name, someText, stringMap } from "./texts.ts";
import { workSource } from "./work-source.ts";

const permissionModes = ["default", "acceptEdits", "bypassPermissions", "plan", "dontAsk"] as const;
const herdTools = [
  "report",
  "ask",
  "artifact",
  "progress",
  "schedule",
  "memory",
  "delegate",
] as const;
export type HerdToolName = (typeof herdTools)[number];

const runtimeType = z.enum(["sdk", "cli"]);
const stream = z.enum(["stdout", "session-file"]);
const runtimeBlock = z.strictObject({
  type: runtimeType.describe("Agent SDK, or the `claude` program"),
  stream: stream.prefault("stdout").describe("Where the messages of the CLI are read from"),
});

/** `runtime: cli` is short for `runtime: { type: cli }`. */
const runtime = z.codec(
  z.union([runtimeType, runtimeBlock]),
  z.object({ type: runtimeType, stream }),
  {
    decode: (given) =>
      typeof given === "string" ? { type: given, stream: "stdout" as const } : given,
    encode: (block) => block,
  },
);

const ownFolder = z.strictObject({ path: hostPath.describe("Folder the agent works in") });
const ownClone = z.strictObject({
  repo: someText.describe("Repository that is cloned for this agent"),
  root: hostPath.prefault("workspaces").describe("Folder under which the clone is made"),
  branch: someText.optional().describe("Branch to check out"),
  clone_depth: count.optional().describe("How many commits to fetch"),
});

/** `working_directory: ../repo` is short for `working_directory: { path: ../repo }`. */
const workingDirectory = z.codec(
  z.union([hostPath, ownFolder, ownClone]),
  z.union([z.object({ path: z.string() }), z.custom<z.output<typeof ownClone>>()]),
  {
    decode: (given) => (typeof given === "string" ? { path: given } : given),
    encode: (block) => block,
  },
);

const timeouts = z.strictObject({
  start: duration.prefault("60s").describe("Until the first sign of life"),
  stall: duration.prefault("10m").describe("Without a sign of life"),
  wall: duration.prefault("1h").describe("For the whole run"),
});

const retry = z.strictObject({
  max_attempts: z.int().min(1).max(100).prefault(3).describe("Attempts in all"),
  backoff: duration.prefault("30s").describe("Pause before the second attempt; doubles from there"),
});

export const budget = z.strictObject({
  daily_usd: usd.optional().describe("Dollars a day"),
  daily_jobs: count.optional().describe("Jobs a day"),
  daily_tokens: count.optional().describe("Tokens a day"),
});

const session = z.strictObject({
  mode: z
    .enum(["fresh", "persistent"])
    .prefault("fresh")
    .describe("A new session each run, or the last one"),
  expires: duration.prefault("24h").describe("An older session is not resumed"),
  live: durationOrNone
    .prefault("10m")
    .describe(
      "How long `claude` stays up for the next turn of a conversation; `0s` for not at all",
    ),
});

const ask = z.strictObject({
  // Claude Code gives up a call of a tool after 27 hours.
  expires: durationUpTo(24 * 3_600_000)
    .prefault("30m")
    .describe("How long a question waits for its answer, at most 24h"),
  use_default: z
    .boolean()
    .prefault(false)
    .describe("Whether the agent's own default is the answer when the time is over"),
});

const maySchedule = z.strictObject({
  at_most: count.describe("Runs it may have planned at once"),
  not_before: duration.prefault("5m").describe("Earliest start from now"),
  prompts: z
    .array(someText)
    .optional()
    .describe("Prompts it may use, `*` for any text; any when not given"),
});

/** All that can be said of an agent but its name; `defaults` and `overrides` say parts of it. */
const agentFields = {
  description: z.string().optional().describe("What the agent is for"),
  working_directory: workingDirectory
    .optional()
    .describe(
      "Folder the agent works in, or a clone of its own; the fleet file's folder when not given",
    ),
  runtime: runtime.prefault("sdk").describe("`sdk`, or `cli` for the subscription"),
  credential: z
    .enum(["auto", "subscription", "api_key"])
    .prefault("auto")
    .describe("Which credential serves the agent"),
  model: someText.optional().describe("Model; Claude Code's default when not given"),
  fallback_model: someText.optional().describe("Model to use when the first is overloaded"),
  effort: z
    .enum(["low", "medium", "high", "xhigh", "max"])
    .optional()
    .describe("How hard it thinks"),
  max_turns: count.optional().describe("Turns of a run"),
  max_budget_usd: usd.optional().describe("Dollars of a run; checked after each call"),
  system_prompt: someText.optional().describe("Added to Claude Code's own system prompt"),
  default_prompt: someText.optional().describe("Prompt when a trigger brings none"),
  permission_mode: z
    .enum(permissionModes)
    .prefault("default")
    .describe("What happens when a tool needs permission"),
  allowed_tools: z.array(someText).prefault([]).describe("Tools that need no permission"),
  denied_tools: z.array(someText).prefault([]).describe("Tools that are never used"),
  mcp_servers: z.record(name, mcpServer).prefault({}).describe("MCP servers of the agent"),
  setting_sources: z
    .array(z.enum(["user", "project", "local"]))
    .prefault(["user"])
    .describe("Claude Code settings in force; `project` trusts the repository"),
  plugins: z.array(hostPath).prefault([]).describe("Claude Code plugin folders"),
  env: stringMap.prefault({}).describe("Environment of the agent"),
  session: session.prefault({}).describe("Whether runs share a session"),
  max_concurrent: count.prefault(1).describe("Runs at the same time"),
  priority: z.int().min(-100).max(100).prefault(0).describe("Higher runs first"),
  warm: z
    .int()
    .min(0)
    .max(16)
    .prefault(0)
    .describe("So many `claude` are started ahead of their jobs; each takes about 140 MB"),
  timeouts: timeouts.prefault({}).describe("Limits in time"),
  retry: retry.prefault({}).describe("What happens after a failure that may pass"),
  budget: budget.prefault({}).describe("Limits for a day"),
  metadata_file: insidePath.optional().describe("JSON file that the agent writes for hooks"),
  tools: z.array(z.enum(herdTools)).prefault([]).describe("Tools of the fleet that the agent has"),
  ask: ask.prefault({}).describe("What becomes of its questions to people"),
  may_trigger: z
    .array(someText)
    .prefault([])
    .describe("Agents it may delegate to; `*` stands for any part of a name"),
  may_schedule: maySchedule.optional().describe("Bounds within which it may plan runs of its own"),
  runs_on: z
    .array(name)
    .prefault([])
    .describe("Labels that a machine must have to run it; any machine when empty"),
  when_node_gone: z
    .enum(["wait", "move"])
    .prefault("move")
    .describe(
      "When the machine with its session is gone: wait for it, or move on with a new session",
    ),
  schedules: z.record(name, schedule).prefault({}).describe("What starts the agent"),
  hooks: hooks.prefault({}).describe("What happens after a run"),
  docker: docker.prefault({}).describe("The agent's container"),
  chat: chat.optional().describe("Chat platforms where the agent answers"),
  work_source: workSource.optional().describe("Where the agent finds its work"),
};

export const agentSchema = z.strictObject({
  name: name.describe("Name of the agent, unique in its fleet"),
  ...agentFields,
});

export type AgentConfig = z.output<typeof agentSchema>;
