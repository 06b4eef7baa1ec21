import type { CommandSpec } from "../command.ts";
import { configOption } from "./config-option.ts";

/** Commands that need no running fleet. */
export const setupCommands: CommandSpec[] = [
  {
    name: "demo",
    summary: "Watch three agents on a scripted model: no key, no internet",
    examples: ["herdctl demo"],
    load: () => import("../commands/demo.ts"),
  },
  {
    name: "init",
    summary: "Create a fleet in this folder",
    options: [
      { flags: "-y, --yes", summary: "Accept the defaults without asking" },
      {
        flags: "--example <name>",
        summary: "Start from this example (default: reviewer in a git repository, else hello)",
      },
      { flags: "--name <name>", summary: "Name of the fleet (default: name of the folder)" },
    ],
    examples: ["herdctl init", "herdctl init --yes --example hello"],
    load: () => import("../commands/init.ts"),
  },
  {
    name: "import",
    summary: "Translate a fleet of the other project called herdctl",
    arguments: [
      {
        name: "path",
        summary: "Its herdctl.yaml, or the folder that contains it (default: this folder)",
        optional: true,
      },
    ],
    options: [{ flags: "--dry-run", summary: "Show the changes without writing them" }],
    examples: ["herdctl import --dry-run", "herdctl import ~/old-fleet"],
    load: () => import("../commands/import.ts"),
  },
  {
    name: "config check",
    summary: "Check the fleet file and its agent files, and report every problem",
    options: [configOption],
    examples: ["herdctl config check --json"],
    load: () => import("../commands/config-check.ts"),
  },
  {
    name: "config show",
    summary: "Show the resolved configuration and the origin of each value",
    arguments: [{ name: "agent", summary: "Show only this agent", optional: true }],
    options: [configOption],
    examples: ["herdctl config show coder"],
    load: () => import("../commands/config-show.ts"),
  },
  {
    name: "config schema",
    summary: "Print the JSON Schema for editors",
    options: [
      { flags: "--agent", summary: "Print the schema of an agent file, not of the fleet file" },
    ],
    examples: ["herdctl config schema > herdctl.schema.json"],
    load: () => import("../commands/config-schema.ts"),
  },
  {
    name: "doctor",
    summary: "Find problems with this machine, the fleet and its agents",
    arguments: [{ name: "agent", summary: "Check only this agent", optional: true }],
    options: [
      {
        flags: "--fix",
        summary:
          "Fix permissions, remove stale files, restore a damaged state from the last backup",
      },
      {
        flags: "--empty-state",
        summary:
          "With --fix: move a damaged state aside if there is no backup, and continue without it",
      },
      { flags: "--offline", summary: "Skip the check of the credential with the API" },
      { flags: "--strict", summary: "Treat warnings as problems" },
      configOption,
    ],
    examples: ["herdctl doctor", "herdctl doctor coder --fix"],
    load: () => import("../commands/doctor.ts"),
  },
  {
    name: "backup",
    summary: "Write the fleet's state to one file, also while the fleet runs",
    arguments: [
      { name: "file", summary: "File to write (default: NAME-TIME.tar.gz)", optional: true },
    ],
    options: [
      {
        flags: "--password-env <name>",
        summary: "Encrypt the file with the password in this environment variable",
      },
      configOption,
    ],
    examples: ["herdctl backup", "herdctl backup /mnt/herd.backup --password-env BACKUP_PASSWORD"],
    load: () => import("../commands/backup.ts"),
  },
  {
    name: "restore",
    summary: "Restore a backup into the current folder",
    arguments: [{ name: "file", summary: "File written by `herdctl backup`" }],
    options: [
      {
        flags: "--password-env <name>",
        summary: "Environment variable with the password of the file",
      },
      {
        flags: "--replace-state",
        summary: "Move the existing state aside first, for example a damaged one",
      },
    ],
    examples: ["herdctl restore shop-2026-03-01-09-00-00.tar.gz"],
    load: () => import("../commands/restore.ts"),
  },
  {
    name: "store migrate",
    summary: "Copy the state of this fleet to a PostgreSQL database",
    options: [
      {
        flags: "--to <address>",
        summary: "Address of the database, such as postgres://herd@db.example.org/herd",
      },
      {
        flags: "--to-env <name>",
        summary: "Environment variable that contains the address with its password",
      },
      configOption,
    ],
    examples: ["herdctl store migrate --to-env HERDCTL_STORE"],
    load: () => import("../commands/store-migrate.ts"),
  },
  {
    name: "docker build",
    summary: "Build the image that agents in containers run in",
    options: [
      { flags: "--base <image>", summary: "Base image (default: debian:bookworm-slim)" },
      { flags: "--tag <name>", summary: "Name of the image (default: herdctl/agent:VERSION)" },
      { flags: "--file <dockerfile>", summary: "Build from this Dockerfile instead" },
    ],
    examples: ["herdctl docker build --base node:22-slim"],
    load: () => import("../commands/docker-build.ts"),
  },
  {
    name: "mcp",
    summary: "Serve the fleet to an MCP client on standard input and output",
    options: [
      {
        flags: "--allow <list>",
        summary: "Allowed actions: trigger,answer,cancel (default: read only)",
      },
      { flags: "--install", summary: "Print how to add it to Claude Code and Claude Desktop" },
      configOption,
    ],
    examples: ["herdctl mcp --install", "herdctl mcp --allow trigger,answer"],
    load: () => import("../commands/mcp.ts"),
  },
  {
    name: "rehearse",
    summary: "Run a scripted model for Claude Code on this machine",
    arguments: [
      {
        name: "script",
        summary: "YAML script of the model; without one, every prompt gets a friendly answer",
        optional: true,
      },
      {
        name: "command...",
        summary: "After `--`: command to run with the model, which stops when the command ends",
        optional: true,
      },
    ],
    options: [
      { flags: "--port <port>", summary: "Port on 127.0.0.1 (default: any free port)" },
      { flags: "--socket <path>", summary: "Also listen on this unix socket" },
    ],
    examples: [
      "herdctl rehearse --port 4010",
      "herdctl rehearse -- npm test  # with the model instead of the API",
    ],
    load: () => import("../commands/rehearse.ts"),
  },
  {
    name: "completion",
    summary: "Print a shell completion script",
    arguments: [{ name: "bash|zsh|fish", summary: "Shell" }],
    examples: ["source <(herdctl completion bash)  # in ~/.bashrc"],
    load: () => import("../commands/completion.ts"),
  },
];
