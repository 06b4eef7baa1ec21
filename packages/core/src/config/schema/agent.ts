import { z } from "zod";
import { chat } from "./chat.ts";
import { docker } from "./docker.ts";
import { hooks } from "./hooks.ts";
import { mcpServer } from "./mcp.ts";
import { count, duration, durationOrNone, durationUpTo, size, usd } from "./quantities.ts";
import { schedule } from "./schedule.ts";
import { hostPath, insidePath, name, someText, stringMap } from "./texts.ts";
import {
  atMost,
  block,
  fleetOnly,
  free,
  granted,
  keeps,
  stricter,
  stricterThanFleet,
  subset,
  superset,
} from "./trust.ts";
import { workSource } from "./work-source.ts";

const planned = <T extends z.ZodType>(schema: T) =>
  fleetOnly(schema, "the agent could start itself without end");

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
const runtimeBlock = block({
  type: free(runtimeType.describe("Agent SDK, or the `claude` program")),
  stream: free(stream.prefault("stdout").describe("Where the messages of the CLI are read from")),
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

const ownFolder = block({
  path: granted(hostPath.describe("Folder the agent works in"), "folder"),
});
const ownClone = block({
  repo: fleetOnly(
    someText.describe("Repository that is cloned for this agent"),
    "git on the host clones it with your credentials",
  ),
  root: granted(
    hostPath.prefault("workspaces").describe("Folder under which the clone is made"),
    "folder",
  ),
  branch: free(someText.optional().describe("Branch to check out")),
  clone_depth: free(count.optional().describe("How many commits to fetch")),
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

const timeouts = block({
  start: stricterThanFleet(
    duration.prefault("60s").describe("Until the first sign of life"),
    atMost,
  ),
  stall: stricterThanFleet(duration.prefault("10m").describe("Without a sign of life"), atMost),
  wall: stricterThanFleet(duration.prefault("1h").describe("For the whole run"), atMost),
});

const retry = block({
  max_attempts: stricter(z.int().min(1).max(100).prefault(3).describe("Attempts in all"), atMost),
  backoff: free(
    duration.prefault("30s").describe("Pause before the second attempt; doubles from there"),
  ),
});

export const budget = block({
  daily_usd: stricter(usd.optional().describe("Dollars a day"), atMost),
  daily_jobs: stricter(count.optional().describe("Jobs a day"), atMost),
  daily_tokens: stricter(count.optional().describe("Tokens a day"), atMost),
});

const session = block({
  mode: free(
    z
      .enum(["fresh", "persistent"])
      .prefault("fresh")
      .describe("A new session each run, or the last one"),
  ),
  expires: free(duration.prefault("24h").describe("An older session is not resumed")),
  live: stricter(
    durationOrNone
      .prefault("10m")
      .describe(
        "How long `claude` stays up for the next turn of a conversation; `0s` for not at all",
      ),
    atMost,
  ),
});

const ask = block({
  // Claude Code gives up a call of a tool after 27 hours.
  expires: free(
    durationUpTo(24 * 3_600_000)
      .prefault("30m")
      .describe("How long a question waits for its answer, at most 24h"),
  ),
  use_default: stricter(
    z
      .boolean()
      .prefault(false)
      .describe("Whether the agent's own default is the answer when the time is over"),
    keeps(false),
  ),
});

const maySchedule = block({
  at_most: planned(count.describe("Runs it may have planned at once")),
  not_before: planned(duration.prefault("5m").describe("Earliest start from now")),
  prompts: planned(
    z
      .array(someText)
      .optional()
      .describe("Prompts it may use, `*` for any text; any when not given"),
  ),
});

/** All that can be said of an agent but its name; `defaults` and `overrides` say parts of it. */
const agentFields = {
  description: free(z.string().optional().describe("What the agent is for")),
  working_directory: granted(
    workingDirectory
      .optional()
      .describe(
        "Folder the agent works in, or a clone of its own; the fleet file's folder when not given",
      ),
    "folder",
  ),
  runtime: free(runtime.prefault("sdk").describe("`sdk`, or `cli` for the subscription")),
  credential: fleetOnly(
    z
      .enum(["auto", "subscription", "api_key"])
      .prefault("auto")
      .describe("Which credential serves the agent"),
    "it decides whose account pays",
  ),
  model: free(someText.optional().describe("Model; Claude Code's default when not given")),
  fallback_model: free(someText.optional().describe("Model to use when the first is overloaded")),
  effort: free(
    z.enum(["low", "medium", "high", "xhigh", "max"]).optional().describe("How hard it thinks"),
  ),
  max_turns: stricter(count.optional().describe("Turns of a run"), atMost),
  max_budget_usd: stricter(
    usd.optional().describe("Dollars of a run; checked after each call"),
    atMost,
  ),
  system_prompt: free(someText.optional().describe("Added to Claude Code's own system prompt")),
  default_prompt: free(someText.optional().describe("Prompt when a trigger brings none")),
  prompts: fleetOnly(
    z
      .enum(["verbatim", "expanded"])
      .prefault("verbatim")
      .describe(
        "`expanded`: `@path` and `/command` take effect in prompts that the operator wrote; text from outside is always sent as written",
      ),
    "`@server:uri` in a prompt reads from MCP servers on the host without asking",
  ),
  permission_mode: free(
    z
      .enum(permissionModes)
      .prefault("default")
      .describe("What happens when a tool needs permission"),
  ),
  allowed_tools: granted(
    z.array(someText).prefault([]).describe("Tools that need no permission"),
    "tool_rules",
  ),
  denied_tools: stricter(
    z.array(someText).prefault([]).describe("Tools that are never used"),
    superset,
  ),
  self_wakeup: free(
    z
      .boolean()
      .prefault(false)
      .describe(
        "Whether a session may start turns of its own later, by `CronCreate` or `ScheduleWakeup`",
      ),
  ),
  mcp_servers: granted(
    z.record(name, mcpServer).prefault({}).describe("MCP servers of the agent"),
    "container_server",
  ),
  setting_sources: stricter(
    z
      .array(z.enum(["user", "project", "local"]))
      .prefault(["user"])
      .describe("Claude Code settings in force; `project` trusts the repository"),
    subset,
  ),
  plugins: fleetOnly(
    z.array(hostPath).prefault([]).describe("Claude Code plugin folders"),
    "folders of the host are mounted",
  ),
  env: free(stringMap.prefault({}).describe("Environment of the agent")),
  session: free(session.prefault({}).describe("Whether runs share a session")),
  max_concurrent: stricter(count.prefault(1).describe("Runs at the same time"), atMost),
  priority: stricter(z.int().min(-100).max(100).prefault(0).describe("Higher runs first"), atMost),
  warm: stricter(
    z
      .int()
      .min(0)
      .max(16)
      .prefault(0)
      .describe("So many `claude` are started ahead of their jobs; each takes about 140 MB"),
    atMost,
  ),
  timeouts: free(timeouts.prefault({}).describe("Limits in time")),
  max_log_size: stricter(
    size
      .prefault("256m")
      .describe("Size of a job's log; messages beyond it are not kept, the result is"),
    atMost,
  ),
  retry: free(retry.prefault({}).describe("What happens after a failure that may pass")),
  budget: free(budget.prefault({}).describe("Limits for a day")),
  metadata_file: fleetOnly(
    insidePath.optional().describe("JSON file that the agent writes for hooks"),
    "hooks on the host act on it",
  ),
  tools: free(
    z.array(z.enum(herdTools)).prefault([]).describe("Tools of the fleet that the agent has"),
  ),
  ask: free(ask.prefault({}).describe("What becomes of its questions to people")),
  may_trigger: granted(
    z
      .array(someText)
      .prefault([])
      .describe("Agents it may delegate to; `*` stands for any part of a name"),
    "agents",
  ),
  may_schedule: fleetOnly(
    maySchedule.optional().describe("Bounds within which it may plan runs of its own"),
    "the agent could start itself without end",
  ),
  runs_on: stricter(
    z
      .array(name)
      .prefault([])
      .describe("Labels that a machine must have to run it; any machine when empty"),
    superset,
  ),
  when_node_gone: free(
    z
      .enum(["wait", "move"])
      .prefault("move")
      .describe(
        "When the machine with its session is gone: wait for it, or move on with a new session",
      ),
  ),
  schedules: free(z.record(name, schedule).prefault({}).describe("What starts the agent")),
  hooks: fleetOnly(
    hooks.prefault({}).describe("What happens after a run"),
    "hooks run on the host",
  ),
  docker: free(docker.prefault({}).describe("The agent's container")),
  chat: fleetOnly(
    chat.optional().describe("Chat platforms where the agent answers"),
    "it decides who can talk to the agent, with whose token and where",
  ),
  work_source: fleetOnly(
    workSource.optional().describe("Where the agent finds its work"),
    "the fleet uses its own token there",
  ),
};

export const agentSchema = block({
  name: free(name.describe("Name of the agent, unique in its fleet")),
  ...agentFields,
});

export type AgentConfig = z.output<typeof agentSchema>;
