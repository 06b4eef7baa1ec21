import type { CommandSpec } from "./command.ts";

export const groups: Record<string, string> = {
  config: "Check, show and describe the configuration",
};

const config = { flags: "-c, --config <file>", summary: "fleet file, or the folder that holds it" };

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
