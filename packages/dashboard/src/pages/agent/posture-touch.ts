import type { Settings } from "./settings.ts";
import type { Statement } from "./statement.ts";

const modes: Record<string, Statement> = {
  default: { text: "A tool that needs permission waits for a person.", weight: "tight" },
  acceptEdits: { text: "It edits files unasked; for the rest a person is asked.", weight: "plain" },
  bypassPermissions: {
    text: "Every tool, unasked: it edits and runs what it likes.",
    weight: "open",
  },
  plan: { text: "It only plans: no file is changed and nothing is run.", weight: "tight" },
  dontAsk: { text: "What would need permission is refused; nobody is asked.", weight: "tight" },
};

export function touchOf(settings: Settings): Statement[] {
  const mode = settings.text("permission_mode") ?? "default";
  const isContained = settings.isOn("docker.enabled");
  return [
    folder(settings, isContained),
    softened(modes[mode] ?? { text: `Permission mode \`${mode}\`.`, weight: "plain" }, isContained),
    ...named(settings.list("allowed_tools"), "Without asking, too:", "plain"),
    ...named(settings.list("denied_tools"), "Never:", "tight"),
    ...named(settings.list("docker.volumes"), "Folders of this machine:", "open"),
    ...trust(settings),
    ...herd(settings),
  ];
}

function folder(settings: Settings, isContained: boolean): Statement {
  const repo = settings.text("working_directory.repo");
  const path = settings.text("working_directory.path") ?? settings.text("working_directory");
  const place = repo ? `a clone of ${repo}` : path ? `\`${path}\`` : "the folder of the fleet file";
  if (isContained && settings.text("docker.workspace_mode") === "ro")
    return { text: `It works in ${place}, which it can only read.`, weight: "tight" };
  return { text: `It works in ${place}.`, weight: "plain" };
}

/** Inside a container, doing as it likes is what the container is for. */
function softened(statement: Statement, isContained: boolean): Statement {
  return isContained && statement.weight === "open" ? { ...statement, weight: "plain" } : statement;
}

function named(names: string[], title: string, weight: Statement["weight"]): Statement[] {
  if (names.length === 0) return [];
  return [{ text: `${title} ${names.map((name) => `\`${name}\``).join(", ")}.`, weight }];
}

function trust(settings: Settings): Statement[] {
  const sources = settings.list("setting_sources").filter((source) => source !== "user");
  if (sources.length === 0)
    return [
      {
        text: "Hooks, MCP servers and settings of the repository are not in force; its CLAUDE.md is.",
        weight: "tight",
      },
    ];
  return [
    {
      text: `It trusts the repository: its ${sources.join(" and ")} settings are in force, hooks among them.`,
      weight: "open",
    },
  ];
}

function herd(settings: Settings): Statement[] {
  const agents = settings.list("may_trigger");
  const mayPlan = settings.names("may_schedule").length > 0;
  return [
    ...(agents.length > 0 ? named(agents, "It may give work to:", "plain") : []),
    ...(mayPlan ? [{ text: "It may plan runs of its own.", weight: "plain" } as const] : []),
  ];
}
