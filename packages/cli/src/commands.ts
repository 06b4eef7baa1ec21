import type { CommandSpec } from "./command.ts";
import { accessCommands } from "./command-table/access-and-audit.ts";
import { fleetCommands } from "./command-table/fleet.ts";
import { jobCommands } from "./command-table/jobs.ts";
import { serviceCommands } from "./command-table/service.ts";
import { setupCommands } from "./command-table/setup.ts";
import { triggerCommands } from "./command-table/triggers.ts";

/** The headings of `herdctl --help`, and the first words of commands below each, in their order. */
export const helpGroups: Record<string, readonly string[]> = {
  "Start here": ["init", "import", "demo", "doctor", "rehearse"],
  Run: [
    "start",
    "stop",
    "restart",
    "reload",
    "trigger",
    "retry",
    "rewind",
    "cancel",
    "pause",
    "resume",
    "schedules",
  ],
  Observe: [
    ...["status", "top", "open", "jobs", "job", "logs", "chain", "artifacts", "sessions"],
    ...["memory", "deliveries", "hooks"],
  ],
  Interact: ["approvals", "rules", "answer", "chat", "mcp"],
  Configure: ["config", "docker", "completion"],
  Operate: [
    "service",
    "uninstall",
    "backup",
    "restore",
    "budget",
    "nodes",
    "store",
    "token",
    "logins",
    "logout",
    "audit",
  ],
};

/** Summaries of first words that are not commands themselves. */
export const commandGroups: Record<string, string> = {
  config: "Check and show the configuration",
  docker: "Build the image for agents in containers",
  chat: "Check the chat connections of agents",
  store: "Copy the fleet's state to a shared database",
  token: "Manage tokens for the control API",
  service: "Run the fleet as a service of systemd or launchd",
};

export const commands: readonly CommandSpec[] = [
  ...setupCommands,
  ...fleetCommands,
  ...accessCommands,
  ...serviceCommands,
  ...triggerCommands,
  ...jobCommands,
];

/** Words that users of other tools type. */
export const commandAliases: Record<string, readonly string[]> = {
  run: ["trigger"],
  ps: ["status"],
  agents: ["status"],
  ls: ["jobs"],
  rerun: ["retry"],
  version: ["--version"],
};
