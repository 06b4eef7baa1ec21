import type { CommandSpec } from "../command.ts";
import { config } from "./config-option.ts";

/** What is done before a fleet runs, and beside it. */
export const setUpCommands: CommandSpec[] = [
  {
    name: "demo",
    summary: "Watch three agents work on a scripted model: no key, no internet",
    load: () => import("../commands/demo.ts"),
  },
  {
    name: "init",
    summary: "Begin a fleet in this folder",
    options: [
      { flags: "-y, --yes", summary: "ask nothing, take the defaults" },
      { flags: "--example <name>", summary: "begin with one of the examples" },
      { flags: "--name <name>", summary: "name of the fleet" },
    ],
    examples: ["herdctl init --yes --example hello"],
    load: () => import("../commands/init.ts"),
  },
  {
    name: "config check",
    summary: "Check the fleet file and all it names; report everything that is wrong",
    options: [config],
    examples: ["herdctl config check --json"],
    load: () => import("../commands/config-check.ts"),
  },
  {
    name: "config show",
    summary: "Show the resolved configuration and where each value came from",
    arguments: [{ name: "agent", summary: "only this agent", optional: true }],
    options: [config],
    load: () => import("../commands/config-show.ts"),
  },
  {
    name: "config schema",
    summary: "Print the JSON Schema that editors use",
    options: [{ flags: "--agent", summary: "of an agent file, not of the fleet file" }],
    examples: ["herdctl config schema > herdctl.schema.json"],
    load: () => import("../commands/config-schema.ts"),
  },
  {
    name: "doctor",
    summary:
      "Find out what keeps agents from working here, or is not safe, and what to do about it",
    arguments: [{ name: "agent", summary: "look only at this agent", optional: true }],
    options: [
      {
        flags: "--fix",
        summary: "mend what is safe to mend: permissions, and stale files of ours",
      },
      { flags: "--offline", summary: "do not ask the API whether it takes the key" },
      { flags: "--strict", summary: "count warnings as problems" },
      config,
    ],
    load: () => import("../commands/doctor.ts"),
  },
  {
    name: "store migrate",
    summary: "Copy the state of this fleet into a PostgreSQL that several machines share",
    options: [
      { flags: "--to <address>", summary: "where to, such as postgres://herd@db.example.org/herd" },
      {
        flags: "--to-env <name>",
        summary: "the variable that holds the address, password and all",
      },
      config,
    ],
    examples: ["herdctl store migrate --to-env HERDCTL_STORE"],
    load: () => import("../commands/store-migrate.ts"),
  },
  {
    name: "docker build",
    summary: "Build the image that agents in containers run in",
    options: [
      { flags: "--base <image>", summary: "image to build upon (default: debian:bookworm-slim)" },
      { flags: "--tag <name>", summary: "name of the image (default: herdctl/agent:VERSION)" },
      { flags: "--file <dockerfile>", summary: "build from this Dockerfile instead of ours" },
    ],
    examples: ["herdctl docker build --base node:22-slim"],
    load: () => import("../commands/docker-build.ts"),
  },
  {
    name: "mcp",
    summary: "Serve the fleet as tools to an MCP client on standard input and output",
    options: [
      {
        flags: "--allow <list>",
        summary: "what may be done: trigger,answer,cancel (default: look)",
      },
      { flags: "--install", summary: "print how Claude Code and Claude Desktop come to know it" },
      config,
    ],
    examples: ["herdctl mcp --install", "herdctl mcp --allow trigger,answer"],
    load: () => import("../commands/mcp.ts"),
  },
  {
    name: "rehearse",
    summary: "Run a scripted model on loopback that Claude Code can talk to",
    arguments: [
      {
        name: "script",
        summary: "YAML script; without one every prompt gets a friendly answer",
        optional: true,
      },
      {
        name: "command...",
        summary: "after `--`: run this with the model, and end with it",
        optional: true,
      },
    ],
    options: [
      { flags: "--port <port>", summary: "port on 127.0.0.1 (default: any free one)" },
      { flags: "--socket <path>", summary: "listen on a unix socket as well" },
    ],
    examples: ["herdctl rehearse --port 4010"],
    load: () => import("../commands/rehearse.ts"),
  },
  {
    name: "completion",
    summary: "Print what completes commands, agents and jobs at the Tab key of a shell",
    arguments: [{ name: "bash|zsh|fish", summary: "which shell" }],
    load: () => import("../commands/completion.ts"),
  },
];
