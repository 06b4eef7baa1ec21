import type { CommandSpec } from "../command.ts";
import { config } from "./config-option.ts";

const deliveryOptions = [
  { flags: "--agent <name>", summary: "only for this agent" },
  { flags: "--limit <number>", summary: "how many at most (default: 20)" },
  { flags: "--cursor <place>", summary: "go on where the last page ended" },
  config,
];

const scheduleArguments = [
  { name: "agent", summary: "which agent" },
  { name: "schedule", summary: "which of its schedules" },
];

/** What starts jobs, what holds them back, and what follows from them. */
export const triggerCommands: CommandSpec[] = [
  {
    name: "schedules",
    summary: "Show what comes due by the clock, and what became of it",
    arguments: [{ name: "agent", summary: "only of this agent", optional: true }],
    options: [config],
    load: () => import("../commands/schedules.ts"),
  },
  {
    name: "schedules list",
    summary: "The same",
    arguments: [{ name: "agent", summary: "only of this agent", optional: true }],
    options: [config],
    load: () => import("../commands/schedules.ts"),
  },
  {
    name: "schedules history",
    summary: "Show what became of every due time, the latest first",
    arguments: [
      { name: "agent", summary: "only of this agent", optional: true },
      { name: "schedule", summary: "only of this schedule", optional: true },
    ],
    options: [
      { flags: "--limit <number>", summary: "how many at most (default: 20)" },
      { flags: "--cursor <place>", summary: "go on where the last page ended" },
      config,
    ],
    load: () => import("../commands/schedules-history.ts"),
  },
  {
    name: "schedules enable",
    summary: "Switch a schedule on",
    arguments: scheduleArguments,
    options: [config],
    load: () => import("../commands/schedules-enable.ts"),
  },
  {
    name: "schedules disable",
    summary: "Switch a schedule off until it is switched on again",
    arguments: scheduleArguments,
    options: [config],
    load: () => import("../commands/schedules-disable.ts"),
  },
  {
    name: "schedules remove",
    summary: "Take back what an agent has planned: a run, or another interval",
    arguments: scheduleArguments,
    options: [config],
    load: () => import("../commands/schedules-remove.ts"),
  },
  {
    name: "schedules run",
    summary: "Run a schedule now, whatever its time",
    arguments: scheduleArguments,
    options: [{ flags: "--wait", summary: "watch the agent at work" }, config],
    examples: ["herdctl schedules run coder nightly --wait"],
    load: () => import("../commands/schedules-run.ts"),
  },
  {
    name: "budget",
    summary: "Show what may be spent today, and what has been",
    options: [config],
    load: () => import("../commands/budget.ts"),
  },
  {
    name: "budget raise",
    summary: "Raise limits for today",
    arguments: [
      { name: "agent", summary: "of this agent; without one, of the fleet", optional: true },
    ],
    options: [
      { flags: "--usd <amount>", summary: "by so many dollars" },
      { flags: "--jobs <number>", summary: "by so many jobs" },
      { flags: "--tokens <number>", summary: "by so many tokens" },
      config,
    ],
    examples: ["herdctl budget raise coder --usd 5"],
    load: () => import("../commands/budget-raise.ts"),
  },
  {
    name: "trigger",
    summary: "Give an agent something to do",
    arguments: [
      { name: "agent", summary: "which agent" },
      { name: "-", summary: "read the prompt from standard input", optional: true },
    ],
    options: [
      { flags: "-p, --prompt <text>", summary: "what to do" },
      { flags: "-f, --file <file>", summary: "read the prompt from a file" },
      { flags: "--schedule <name>", summary: "use the prompt of one of its schedules" },
      { flags: "--wait", summary: "watch the agent at work" },
      { flags: "--key <key>", summary: "trigger once only for this key, however often it is sent" },
      { flags: "--resume <id>", summary: "go on with the session of a job, or with a session" },
      { flags: "--fork <id>", summary: "branch off from the session of a job, or from a session" },
      { flags: "--at <message>", summary: "with --fork: after this message, by its uuid" },
      config,
    ],
    examples: [
      'herdctl trigger coder -p "Fix the failing test." --wait',
      "git diff | herdctl trigger reviewer -  # the prompt from standard input",
      'herdctl trigger coder --resume job-2026-03-01-k3v9 -p "Now the docs."',
    ],
    load: () => import("../commands/trigger.ts"),
  },
  {
    name: "deliveries",
    summary: "List what webhooks delivered, the newest first",
    options: deliveryOptions,
    load: () => import("../commands/deliveries.ts"),
  },
  {
    name: "deliveries list",
    summary: "The same",
    options: deliveryOptions,
    load: () => import("../commands/deliveries.ts"),
  },
  {
    name: "deliveries show",
    summary: "Show one delivery with its body",
    arguments: [{ name: "id", summary: "its id, or enough of it" }],
    options: [config],
    load: () => import("../commands/deliveries-show.ts"),
  },
  {
    name: "deliveries replay",
    summary: "Take a delivery as if it came now; it gets a job of its own",
    arguments: [{ name: "id", summary: "its id, or enough of it" }],
    options: [config],
    examples: ["herdctl deliveries replay 7c1e"],
    load: () => import("../commands/deliveries-replay.ts"),
  },
  {
    name: "hooks",
    summary: "Show what ran after jobs, and what failed",
    options: [
      { flags: "--job <id>", summary: "only of this job" },
      { flags: "--failed", summary: "only those that were given up" },
      { flags: "--limit <number>", summary: "how many at most (default: 20)" },
      config,
    ],
    load: () => import("../commands/hooks.ts"),
  },
  {
    name: "hooks retry",
    summary: "Try a hook once more that was given up",
    arguments: [{ name: "id", summary: "its id, or enough of it" }],
    options: [config],
    load: () => import("../commands/hooks-retry.ts"),
  },
];
