import type { CommandSpec } from "../command.ts";
import { config } from "./config-option.ts";
import { nodeFlags } from "./node-flags.ts";

const platform = {
  flags: "--platform <name>",
  summary: "systemd or launchd (default: what this machine has)",
};

/** The fleet as a service of this user. */
export const serviceCommands: CommandSpec[] = [
  {
    name: "service install",
    summary: "Have the system start the fleet now, at every login or boot, and after a crash",
    options: [
      { flags: "--print", summary: "only show what would be written" },
      ...nodeFlags,
      platform,
      config,
    ],
    load: () => import("../commands/service-install.ts"),
  },
  {
    name: "service uninstall",
    summary: "Stop the service and remove it; jobs that run go on",
    options: [platform, config],
    load: () => import("../commands/service-uninstall.ts"),
  },
  {
    name: "service status",
    summary: "Show whether the service is installed and runs, and where its logs are",
    options: [platform, config],
    load: () => import("../commands/service-status.ts"),
  },
];
