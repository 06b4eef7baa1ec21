import type { CommandSpec } from "../command.ts";
import { configOption } from "./config-option.ts";
import { pageOptions } from "./page-options.ts";

const jobArgument = { name: "job", summary: "Job ID; a unique prefix is enough" };

/** Jobs, their results and their sessions. */
export const jobCommands: CommandSpec[] = [
  {
    name: "jobs",
    summary: "List jobs, newest first",
    options: [
      { flags: "--agent <name>", summary: "Only jobs of this agent" },
      { flags: "--status <status>", summary: "Only jobs with this status, such as running" },
      { flags: "--outcome <code>", summary: "Only jobs with this outcome, such as auth_failed" },
      { flags: "--since <time>", summary: "Only jobs since then: 2h, 7d or 2026-03-01T09:00" },
      ...pageOptions,
      configOption,
    ],
    examples: [
      "herdctl jobs --agent coder --since 24h",
      "herdctl jobs --outcome auth_failed --json",
    ],
    load: () => import("../commands/jobs.ts"),
  },
  {
    name: "search",
    summary: "Search the prompts, summaries and outputs of all jobs",
    arguments: [
      {
        name: "text",
        summary:
          "Words that must all occur; each of three or more letters may be the start of a word",
      },
    ],
    options: [
      { flags: "--agent <name>", summary: "Only jobs of this agent" },
      ...pageOptions,
      configOption,
    ],
    examples: ['herdctl search "max_turns checkout" --agent coder'],
    load: () => import("../commands/search.ts"),
  },
  {
    name: "job",
    summary: "Show everything recorded about a job",
    arguments: [{ name: "id", summary: "Job ID; a unique prefix is enough" }],
    options: [configOption],
    examples: ["herdctl job job-2026-03-01-k3v9"],
    load: () => import("../commands/job.ts"),
  },
  {
    name: "retry",
    summary: "Run a job again, or end the wait of a job for a limit",
    arguments: [jobArgument],
    options: [
      { flags: "--fresh", summary: "Start a new session instead of continuing the job's session" },
      { flags: "--try-now", summary: "Start the next attempt of a waiting job now" },
      { flags: "--wait", summary: "Watch the job until it ends" },
      configOption,
    ],
    examples: [
      "herdctl retry job-2026-03-01-k3v9  # the same prompt in the same session",
      "herdctl retry job-2026-03-01-k3v9 --try-now  # after a limit was raised",
    ],
    load: () => import("../commands/retry.ts"),
  },
  {
    name: "rewind",
    summary: "Restore the files that a job changed with Edit and Write",
    arguments: [jobArgument],
    options: [
      { flags: "--to <message>", summary: "To before this message; default: the job's first" },
      { flags: "--list", summary: "List the messages of the session instead" },
      configOption,
    ],
    examples: [
      "herdctl rewind job-2026-03-01-k3v9  # as before the job; changes by Bash stay",
      "herdctl rewind job-2026-03-01-k3v9 --list",
    ],
    load: () => import("../commands/rewind.ts"),
  },
  {
    name: "chain",
    summary: "Show a job and the jobs delegated from it as a tree",
    arguments: [{ name: "job", summary: "ID of any job in the chain; a unique prefix is enough" }],
    options: [configOption],
    examples: ["herdctl chain job-2026-03-01-k3v9"],
    load: () => import("../commands/chain.ts"),
  },
  {
    name: "logs",
    summary: "Show what an agent did in a job, or follow it live",
    arguments: [{ name: "agent|job", summary: "Job ID, or an agent name for its latest job" }],
    options: [{ flags: "-f, --follow", summary: "Keep printing until the job ends" }, configOption],
    examples: ["herdctl logs coder --follow"],
    load: () => import("../commands/logs.ts"),
  },
  {
    name: "artifacts",
    summary: "List the files that a job kept, or copy one of them",
    arguments: [
      jobArgument,
      { name: "file", summary: "File to copy to the current folder", optional: true },
    ],
    options: [{ flags: "-o, --output <path>", summary: "Copy to this path instead" }, configOption],
    examples: ["herdctl artifacts job-2026-03-01-k3v9 report.md --output /tmp"],
    load: () => import("../commands/artifacts.ts"),
  },
  {
    name: "memory",
    summary: "List the notes that an agent keeps, or show one of them",
    arguments: [
      { name: "agent", summary: "Name of the agent" },
      { name: "note", summary: "Note to show", optional: true },
    ],
    options: [configOption],
    examples: ["herdctl memory coder"],
    load: () => import("../commands/memory.ts"),
  },
  {
    name: "sessions",
    summary: "List sessions and whether they can be resumed",
    arguments: [{ name: "agent", summary: "Only sessions of this agent", optional: true }],
    options: [configOption],
    examples: ["herdctl sessions coder"],
    load: () => import("../commands/sessions.ts"),
  },
  {
    name: "sessions resume",
    summary: "Resume a session by hand in Claude Code",
    arguments: [
      { name: "id", summary: "ID of a session, or of a job that ran in it; a prefix is enough" },
    ],
    options: [
      { flags: "--print", summary: "Print the command instead of running it" },
      configOption,
    ],
    examples: ["herdctl sessions resume job-2026-03-01-k3v9  # opens Claude Code in that session"],
    load: () => import("../commands/sessions-resume.ts"),
  },
];
