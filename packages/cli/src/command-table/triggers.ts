import type { CommandSpec } from "../command.ts";
import { configOption } from "./config-option.ts";
import { pageOptions } from "./page-options.ts";

const deliveryOptions = [
  { flags: "--agent <name>", summary: "Only deliveries for this agent" },
  ...pageOptions,
  configOption,
];

const deliveryArgument = { name: "id", summary: "Delivery ID; a unique prefix is enough" };

const scheduleArguments = [
  { name: "agent", summary: "Name of the agent" },
  { name: "schedule", summary: "Name of the schedule" },
];

const agentFilter = {
  name: "agent",
  summary: "Only schedules of this agent",
  optional: true as const,
};

/** Triggers, budgets, webhook deliveries and after-run hooks. */
export const triggerCommands: CommandSpec[] = [
  {
    name: "schedules",
    summary: "List schedules with their last and next runs",
    arguments: [agentFilter],
    options: [configOption],
    examples: ["herdctl schedules", "herdctl schedules coder --json"],
    load: () => import("../commands/schedules.ts"),
  },
  {
    name: "schedules list",
    summary: "List schedules with their last and next runs",
    arguments: [agentFilter],
    options: [configOption],
    examples: ["herdctl schedules list"],
    load: () => import("../commands/schedules.ts"),
  },
  {
    name: "schedules history",
    summary: "List past due times and their results, latest first",
    arguments: [
      { name: "agent", summary: "Only due times of this agent", optional: true },
      { name: "schedule", summary: "Only due times of this schedule", optional: true },
    ],
    options: [...pageOptions, configOption],
    examples: ["herdctl schedules history coder nightly --limit 5"],
    load: () => import("../commands/schedules-history.ts"),
  },
  {
    name: "schedules enable",
    summary: "Enable a schedule",
    arguments: scheduleArguments,
    options: [configOption],
    examples: ["herdctl schedules enable coder nightly"],
    load: () => import("../commands/schedules-enable.ts"),
  },
  {
    name: "schedules disable",
    summary: "Disable a schedule until it is enabled again",
    arguments: scheduleArguments,
    options: [configOption],
    examples: ["herdctl schedules disable coder nightly"],
    load: () => import("../commands/schedules-disable.ts"),
  },
  {
    name: "schedules remove",
    summary: "Remove a run or an interval that an agent scheduled for itself",
    arguments: scheduleArguments,
    options: [configOption],
    examples: ["herdctl schedules remove coder follow-up"],
    load: () => import("../commands/schedules-remove.ts"),
  },
  {
    name: "schedules run",
    summary: "Run a schedule now",
    arguments: scheduleArguments,
    options: [{ flags: "--wait", summary: "Watch the job until it ends" }, configOption],
    examples: ["herdctl schedules run coder nightly --wait"],
    load: () => import("../commands/schedules-run.ts"),
  },
  {
    name: "budget",
    summary: "Show today's spending and limits",
    options: [configOption],
    examples: ["herdctl budget"],
    load: () => import("../commands/budget.ts"),
  },
  {
    name: "budget raise",
    summary: "Raise limits for today",
    arguments: [
      {
        name: "agent",
        summary: "Agent whose limits to raise; without one, those of the fleet",
        optional: true,
      },
    ],
    options: [
      { flags: "--usd <amount>", summary: "Amount in dollars to add" },
      { flags: "--jobs <number>", summary: "Number of jobs to add" },
      { flags: "--tokens <number>", summary: "Number of tokens to add" },
      configOption,
    ],
    examples: ["herdctl budget raise coder --usd 5"],
    load: () => import("../commands/budget-raise.ts"),
  },
  {
    name: "trigger",
    summary: "Start a job for an agent",
    arguments: [
      { name: "agent", summary: "Name of the agent" },
      { name: "prompt", summary: "Prompt, or `-` to read it from standard input", optional: true },
    ],
    options: [
      { flags: "-p, --prompt <text>", summary: "Prompt (default: default_prompt of the agent)" },
      { flags: "-f, --file <file>", summary: "Read the prompt from this file" },
      { flags: "--schedule <name>", summary: "Use the prompt of this schedule" },
      { flags: "--wait", summary: "Watch the job until it ends" },
      { flags: "--key <key>", summary: "Start at most one job for this key" },
      { flags: "--resume <id>", summary: "Resume this session, or the session of this job" },
      { flags: "--fork <id>", summary: "Fork this session, or the session of this job" },
      { flags: "--at <message>", summary: "With --fork: UUID of the last message to keep" },
      configOption,
    ],
    examples: [
      'herdctl trigger coder "Fix the failing test." --wait',
      "git diff | herdctl trigger reviewer -  # the prompt from standard input",
      'herdctl trigger coder --resume job-2026-03-01-k3v9 -p "Now the docs."',
    ],
    load: () => import("../commands/trigger.ts"),
  },
  {
    name: "deliveries",
    summary: "List webhook deliveries, newest first",
    options: deliveryOptions,
    examples: ["herdctl deliveries --agent reviewer"],
    load: () => import("../commands/deliveries.ts"),
  },
  {
    name: "deliveries list",
    summary: "List webhook deliveries, newest first",
    options: deliveryOptions,
    examples: ["herdctl deliveries list --limit 5"],
    load: () => import("../commands/deliveries.ts"),
  },
  {
    name: "deliveries show",
    summary: "Show one delivery with its body",
    arguments: [deliveryArgument],
    options: [configOption],
    examples: ["herdctl deliveries show 7c1e"],
    load: () => import("../commands/deliveries-show.ts"),
  },
  {
    name: "deliveries replay",
    summary: "Process a delivery again as if it had just arrived; starts a new job",
    arguments: [deliveryArgument],
    options: [configOption],
    examples: ["herdctl deliveries replay 7c1e"],
    load: () => import("../commands/deliveries-replay.ts"),
  },
  {
    name: "hooks",
    summary: "List hooks that ran after jobs, newest first",
    options: [
      { flags: "--job <id>", summary: "Only hooks of this job" },
      { flags: "--failed", summary: "Only failed hooks" },
      { flags: "--limit <number>", summary: "Number of entries (default: 20)" },
      configOption,
    ],
    examples: ["herdctl hooks --failed"],
    load: () => import("../commands/hooks.ts"),
  },
  {
    name: "hooks retry",
    summary: "Retry a failed hook",
    arguments: [{ name: "id", summary: "Hook run ID; a unique prefix is enough" }],
    options: [configOption],
    examples: ["herdctl hooks retry 4b7d"],
    load: () => import("../commands/hooks-retry.ts"),
  },
];
