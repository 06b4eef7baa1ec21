import type { CommandSpec } from "../command.ts";
import { configOption } from "./config-option.ts";
import { nodeOptionSpecs } from "./node-option-specs.ts";

const platformOption = {
  flags: "--platform <name>",
  summary: "Service manager: systemd or launchd (default: the one of this system)",
};

/** The fleet as a service of the current user. */
export const serviceCommands: CommandSpec[] = [
  {
    name: "service install",
    summary: "Start the fleet now, at every login or boot, and after a crash",
    options: [
      { flags: "--print", summary: "Print the service files instead of writing them" },
      ...nodeOptionSpecs,
      platformOption,
      configOption,
    ],
    examples: ["herdctl service install --print", "herdctl service install"],
    load: () => import("../commands/service-install.ts"),
  },
  {
    name: "service uninstall",
    summary: "Stop and remove the service; running jobs continue",
    options: [platformOption, configOption],
    examples: ["herdctl service uninstall"],
    load: () => import("../commands/service-uninstall.ts"),
  },
  {
    name: "service status",
    summary: "Show whether the service is installed and running, and its logs",
    options: [platformOption, configOption],
    examples: ["herdctl service status"],
    load: () => import("../commands/service-status.ts"),
  },
  {
    name: "uninstall",
    summary: "Remove what herdctl installed for this fleet; lists it first",
    options: [
      { flags: "-y, --yes", summary: "Remove without asking" },
      { flags: "--state", summary: "Also remove the state folder with jobs, logs and notes" },
      { flags: "--images", summary: "Also remove the agent images, which other fleets may use" },
      platformOption,
      configOption,
    ],
    examples: ["herdctl uninstall", "herdctl uninstall --yes --state --images"],
    load: () => import("../commands/uninstall.ts"),
  },
];
