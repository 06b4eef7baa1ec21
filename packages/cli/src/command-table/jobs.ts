import type { CommandSpec } from "../command.ts";
import { config } from "./config-option.ts";

/** What jobs came to, and what they left. */
export const jobCommands: CommandSpec[] = [
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
    examples: [
      "herdctl jobs --agent coder --since 24h",
      "herdctl jobs --outcome auth_failed --json",
    ],
    load: () => import("../commands/jobs.ts"),
  },
  {
    name: "job",
    summary: "Show all that is recorded of a job",
    arguments: [{ name: "id", summary: "its id, or enough of it to tell it from others" }],
    options: [config],
    load: () => import("../commands/job.ts"),
  },
  {
    name: "chain",
    summary: "Show the jobs that agents gave each other, as a tree",
    arguments: [{ name: "job", summary: "any job of the chain, or enough of its id" }],
    options: [config],
    load: () => import("../commands/chain.ts"),
  },
  {
    name: "logs",
    summary: "Show what an agent did, as it was seen at work",
    arguments: [{ name: "agent|job", summary: "a job, or an agent for its latest job" }],
    options: [{ flags: "-f, --follow", summary: "go on until the job ends" }, config],
    examples: ["herdctl logs coder --follow"],
    load: () => import("../commands/logs.ts"),
  },
  {
    name: "artifacts",
    summary: "List the files that a job keeps, or copy one out",
    arguments: [
      { name: "job", summary: "a job's id or the beginning of it" },
      { name: "file", summary: "the file to copy here", optional: true },
    ],
    options: [
      { flags: "-o, --output <path>", summary: "where to, instead of this folder" },
      config,
    ],
    examples: ["herdctl artifacts job-2026-03-01-k3v9 report.md --output /tmp"],
    load: () => import("../commands/artifacts.ts"),
  },
  {
    name: "memory",
    summary: "List the notes that an agent wrote for itself, or show one",
    arguments: [
      { name: "agent", summary: "which agent" },
      { name: "note", summary: "the note to show", optional: true },
    ],
    options: [config],
    load: () => import("../commands/memory.ts"),
  },
  {
    name: "sessions",
    summary: "List the sessions that can be gone on with",
    arguments: [{ name: "agent", summary: "only of this agent", optional: true }],
    options: [config],
    load: () => import("../commands/sessions.ts"),
  },
  {
    name: "sessions resume",
    summary: "Go on with a session by hand, in Claude Code itself",
    arguments: [{ name: "id", summary: "a session, or a job that ran in it" }],
    options: [{ flags: "--print", summary: "print the command instead of running it" }, config],
    examples: ["herdctl sessions resume job-2026-03-01-k3v9  # opens Claude Code in that session"],
    load: () => import("../commands/sessions-resume.ts"),
  },
];
