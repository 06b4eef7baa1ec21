import type { CommandSpec } from "./command.ts";
import { accessCommands } from "./command-table/access.ts";
import { fleetCommands } from "./command-table/fleet.ts";
import { jobCommands } from "./command-table/jobs.ts";
import { serviceCommands } from "./command-table/service.ts";
import { setUpCommands } from "./command-table/set-up.ts";
import { triggerCommands } from "./command-table/triggers.ts";

export const groups: Record<string, string> = {
  config: "Check, show and describe the configuration",
  docker: "Prepare what agents in containers run in",
  chat: "Agents in Discord and Slack",
  store: "Where the state of a fleet is kept",
  token: "Tokens for programs that use the control API",
  service: "Have the fleet started and kept up by the system",
};

export const commands: readonly CommandSpec[] = [
  ...setUpCommands,
  ...fleetCommands,
  ...accessCommands,
  ...serviceCommands,
  ...triggerCommands,
  ...jobCommands,
];
