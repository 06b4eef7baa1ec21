import type { CommandSpec } from "./command.ts";

export const groups: Record<string, string> = {
  config: "Check, show and describe the configuration",
};

const config = { flags: "-c, --config <file>", summary: "fleet file, or the folder that holds it" };

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

export const commands: CommandSpec[] = [
  {
    name: "init",
    summary: "Begin a fleet in this folder",
    options: [
      { flags: "-y, --yes", summary: "ask nothing, take the defaults" },
      { flags: "--example <name>", summary: "begin with one of the examples" },
      { flags: "--name <name>", summary: "name of the fleet" },
    ],
    load: () => import("./commands/init.ts"),
  },
  {
    name: "config check",
    summary: "Check the fleet file and all it names; report everything that is wrong",
    options: [config],
    load: () => import("./commands/config-check.ts"),
  },
  {
    name: "config show",
    summary: "Show the resolved configuration and where each value came from",
    arguments: [{ name: "agent", summary: "only this agent" }],
    options: [config],
    load: () => import("./commands/config-show.ts"),
  },
  {
    name: "config schema",
    summary: "Print the JSON Schema that editors use",
    options: [{ flags: "--agent", summary: "of an agent file, not of the fleet file" }],
    load: () => import("./commands/config-schema.ts"),
  },
  {
    name: "start",
    summary: "Run the fleet",
    options: [{ flags: "-d, --detach", summary: "in the background" }, config],
    load: () => import("./commands/start.ts"),
  },
  {
    name: "stop",
    summary: "Stop the fleet once its jobs have ended, or after 80 seconds",
    options: [{ flags: "--now", summary: "do not wait: what runs is interrupted" }, config],
    load: () => import("./commands/stop.ts"),
  },
  {
    name: "restart",
    summary: "Start the fleet anew in the background, while its jobs go on",
    options: [config],
    load: () => import("./commands/restart.ts"),
  },
  {
    name: "reload",
    summary: "Let the running fleet read its configuration again",
    options: [config],
    load: () => import("./commands/reload.ts"),
  },
  {
    name: "status",
    summary: "Show what the fleet and its agents are doing",
    arguments: [{ name: "agent", summary: "only this agent, with its jobs" }],
    options: [config],
    load: () => import("./commands/status.ts"),
  },
  {
    name: "top",
    summary: "Watch the fleet live, cancel jobs and answer questions",
    options: [config],
    load: () => import("./commands/top.ts"),
  },
  {
    name: "cancel",
    summary: "Stop a job, or all that an agent does and has to do",
    arguments: [{ name: "job|agent", summary: "a job's id or the beginning of it, or an agent" }],
    options: [{ flags: "--force", summary: "end it at once instead of asking it to stop" }, config],
    load: () => import("./commands/cancel.ts"),
  },
  {
    name: "pause",
    summary: "Start nothing more of an agent",
    arguments: [{ name: "agent", summary: "which agent" }],
    options: [config],
    load: () => import("./commands/pause.ts"),
  },
  {
    name: "resume",
    summary: "Let a paused agent go on",
    arguments: [{ name: "agent", summary: "which agent" }],
    options: [config],
    load: () => import("./commands/resume.ts"),
  },
  {
    name: "approvals",
    summary: "Show what agents ask to be allowed",
    options: [config],
    load: () => import("./commands/approvals.ts"),
  },
  {
    name: "approvals list",
    summary: "The same",
    options: [config],
    load: () => import("./commands/approvals.ts"),
  },
  {
    name: "approvals allow",
    summary: "Allow one request, once",
    arguments: [{ name: "id", summary: "its id, or enough of it" }],
    options: [config],
    load: () => import("./commands/approvals-allow.ts"),
  },
  {
    name: "approvals deny",
    summary: "Deny one request",
    arguments: [{ name: "id", summary: "its id, or enough of it" }],
    options: [config],
    load: () => import("./commands/approvals-deny.ts"),
  },
  {
    name: "schedules",
    summary: "Show what comes due by the clock, and what became of it",
    arguments: [{ name: "agent", summary: "only of this agent" }],
    options: [config],
    load: () => import("./commands/schedules.ts"),
  },
  {
    name: "schedules list",
    summary: "The same",
    arguments: [{ name: "agent", summary: "only of this agent" }],
    options: [config],
    load: () => import("./commands/schedules.ts"),
  },
  {
    name: "schedules history",
    summary: "Show what became of every due time, the latest first",
    arguments: [
      { name: "agent", summary: "only of this agent" },
      { name: "schedule", summary: "only of this schedule" },
    ],
    options: [
      { flags: "--limit <number>", summary: "how many at most (default: 20)" },
      { flags: "--cursor <place>", summary: "go on where the last page ended" },
      config,
    ],
    load: () => import("./commands/schedules-history.ts"),
  },
  {
    name: "schedules enable",
    summary: "Switch a schedule on",
    arguments: scheduleArguments,
    options: [config],
    load: () => import("./commands/schedules-enable.ts"),
  },
  {
    name: "schedules disable",
    summary: "Switch a schedule off until it is switched on again",
    arguments: scheduleArguments,
    options: [config],
    load: () => import("./commands/schedules-disable.ts"),
  },
  {
    name: "schedules run",
    summary: "Run a schedule now, whatever its time",
    arguments: scheduleArguments,
    options: [{ flags: "--wait", summary: "watch the agent at work" }, config],
    load: () => import("./commands/schedules-run.ts"),
  },
  {
    name: "budget",
    summary: "Show what may be spent today, and what has been",
    options: [config],
    load: () => import("./commands/budget.ts"),
  },
  {
    name: "budget raise",
    summary: "Raise limits for today",
    arguments: [{ name: "agent", summary: "of this agent; without one, of the fleet" }],
    options: [
      { flags: "--usd <amount>", summary: "by so many dollars" },
      { flags: "--jobs <number>", summary: "by so many jobs" },
      { flags: "--tokens <number>", summary: "by so many tokens" },
      config,
    ],
    load: () => import("./commands/budget-raise.ts"),
  },
  {
    name: "trigger",
    summary: "Give an agent something to do",
    arguments: [
      { name: "agent", summary: "which agent" },
      { name: "-", summary: "read the prompt from standard input" },
    ],
    options: [
      { flags: "-p, --prompt <text>", summary: "what to do" },
      { flags: "-f, --file <file>", summary: "read the prompt from a file" },
      { flags: "--schedule <name>", summary: "use the prompt of one of its schedules" },
      { flags: "--wait", summary: "watch the agent at work" },
      { flags: "--key <key>", summary: "trigger once only for this key, however often it is sent" },
      { flags: "--resume <id>", summary: "go on with the session of a job, or with a session" },
      { flags: "--fork <id>", summary: "branch off from the session of a job, or from a session" },
      config,
    ],
    load: () => import("./commands/trigger.ts"),
  },
  {
    name: "jobs",
    summary: "List what ran and what runs, the newest first",
    options: [
      { flags: "--agent <name>", summary: "only of this agent" },
      { flags: "--status <status>", summary: "only running, failed, …" },
      { flags: "--outcome <code>", summary: "only max_turns, auth_failed, …" },
      { flags: "--since <when>", summary: "only since then: 2h, 7d or 2026-03-01T09:00" },
      { flags: "--limit <number>", summary: "how many at most (default: 20)" },
      { flags: "--cursor <place>", summary: "go on where the last page ended" },
      config,
    ],
    load: () => import("./commands/jobs.ts"),
  },
  {
    name: "job",
    summary: "Show all that is recorded of a job",
    arguments: [{ name: "id", summary: "its id, or enough of it to tell it from others" }],
    options: [config],
    load: () => import("./commands/job.ts"),
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
    load: () => import("./commands/hooks.ts"),
  },
  {
    name: "hooks retry",
    summary: "Try a hook once more that was given up",
    arguments: [{ name: "id", summary: "its id, or enough of it" }],
    options: [config],
    load: () => import("./commands/hooks-retry.ts"),
  },
  {
    name: "deliveries",
    summary: "List what webhooks delivered, the newest first",
    options: deliveryOptions,
    load: () => import("./commands/deliveries.ts"),
  },
  {
    name: "deliveries list",
    summary: "The same",
    options: deliveryOptions,
    load: () => import("./commands/deliveries.ts"),
  },
  {
    name: "deliveries show",
    summary: "Show one delivery with its body",
    arguments: [{ name: "id", summary: "its id, or enough of it" }],
    options: [config],
    load: () => import("./commands/deliveries-show.ts"),
  },
  {
    name: "deliveries replay",
    summary: "Take a delivery as if it came now; it gets a job of its own",
    arguments: [{ name: "id", summary: "its id, or enough of it" }],
    options: [config],
    load: () => import("./commands/deliveries-replay.ts"),
  },
  {
    name: "logs",
    summary: "Show what an agent did, as it was seen at work",
    arguments: [{ name: "agent|job", summary: "a job, or an agent for its latest job" }],
    options: [{ flags: "-f, --follow", summary: "go on until the job ends" }, config],
    load: () => import("./commands/logs.ts"),
  },
  {
    name: "sessions",
    summary: "List the sessions that can be gone on with",
    arguments: [{ name: "agent", summary: "only of this agent" }],
    options: [config],
    load: () => import("./commands/sessions.ts"),
  },
  {
    name: "sessions resume",
    summary: "Go on with a session by hand, in Claude Code itself",
    arguments: [{ name: "id", summary: "a session, or a job that ran in it" }],
    options: [{ flags: "--print", summary: "print the command instead of running it" }, config],
    load: () => import("./commands/sessions-resume.ts"),
  },
  {
    name: "rehearse",
    summary: "Run a scripted model on loopback that Claude Code can talk to",
    arguments: [
      { name: "script", summary: "YAML script; without one every prompt gets a friendly answer" },
    ],
    options: [
      { flags: "--port <port>", summary: "port on 127.0.0.1 (default: any free one)" },
      { flags: "--socket <path>", summary: "listen on a unix socket as well" },
    ],
    load: () => import("./commands/rehearse.ts"),
  },
];
