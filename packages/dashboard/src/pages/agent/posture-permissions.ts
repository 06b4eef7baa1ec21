import type { ConfigValueReader } from "./config-value-reader.ts";
import type { PostureStatement } from "./posture-statement.ts";

const statementByMode: Record<string, PostureStatement> = {
  default: { text: "Asks a person before it uses a tool that needs permission.", weight: "tight" },
  acceptEdits: {
    text: "Edits files in its folder without asking. Other tools that need permission are denied, and no one is asked.",
    weight: "plain",
  },
  bypassPermissions: {
    text: "Uses every tool without asking: it can edit any file and run any command.",
    weight: "open",
  },
  plan: { text: "Only plans: changes no files and runs no commands.", weight: "tight" },
  dontAsk: { text: "Tools that need permission are denied without asking.", weight: "tight" },
};

export function describePermissions(settings: ConfigValueReader): PostureStatement[] {
  const mode = settings.text("permission_mode") ?? "default";
  const isInContainer = settings.isOn("docker.enabled");
  return [
    folderStatement(settings, isInContainer),
    softenInContainer(
      statementByMode[mode] ?? { text: `Permission mode \`${mode}\`.`, weight: "plain" },
      isInContainer,
    ),
    ...allowedToolStatements(settings, isInContainer),
    ...listStatement(settings.list("denied_tools"), "Never allowed:", "tight"),
    ...listStatement(
      settings.list("docker.volumes"),
      "Can access folders of this machine:",
      "open",
    ),
    ...trustStatements(settings),
    ...fleetToolStatements(settings),
  ];
}

function folderStatement(settings: ConfigValueReader, isInContainer: boolean): PostureStatement {
  const repo = settings.text("working_directory.repo");
  const path = settings.text("working_directory.path") ?? settings.text("working_directory");
  const folderText = repo ? `a clone of ${repo}` : path ? `\`${path}\`` : "the fleet file's folder";
  if (isInContainer && settings.text("docker.workspace_mode") === "ro")
    return { text: `Works in ${folderText}, which is read-only.`, weight: "tight" };
  return { text: `Works in ${folderText}.`, weight: "plain" };
}

/** Unrestricted permissions weigh less inside a container, which is the boundary there. */
function softenInContainer(statement: PostureStatement, isInContainer: boolean): PostureStatement {
  return isInContainer && statement.weight === "open"
    ? { ...statement, weight: "plain" }
    : statement;
}

/** On the host, a shell without a pattern can do everything that the fleet's user can. */
function allowedToolStatements(
  settings: ConfigValueReader,
  isInContainer: boolean,
): PostureStatement[] {
  const rules = settings.list("allowed_tools");
  const denied = settings.list("denied_tools");
  const isShell = (rule: string) => unlimitedShellRules.includes(rule) && !denied.includes("Bash");
  const shells = isInContainer ? [] : rules.filter(isShell);
  return [
    ...shells.map(
      (rule): PostureStatement => ({
        text: `Runs any command as the fleet's user without asking: \`${rule}\` is allowed.`,
        weight: "open",
      }),
    ),
    ...listStatement(
      rules.filter((rule) => !shells.includes(rule)),
      "Also allowed without asking:",
      "plain",
    ),
  ];
}

const unlimitedShellRules = ["*", "Bash", "Bash(*)", "Bash(:*)"];

function listStatement(
  names: string[],
  title: string,
  weight: PostureStatement["weight"],
): PostureStatement[] {
  if (names.length === 0) return [];
  return [{ text: `${title} ${names.map((name) => `\`${name}\``).join(", ")}.`, weight }];
}

function trustStatements(settings: ConfigValueReader): PostureStatement[] {
  const sources = settings.list("setting_sources").filter((source) => source !== "user");
  if (sources.length === 0)
    return [
      {
        text: "Ignores the repository's hooks, MCP servers and settings. Reads its CLAUDE.md.",
        weight: "tight",
      },
    ];
  return [
    {
      text: `Trusts the repository: applies its ${sources.join(" and ")} settings, including hooks.`,
      weight: "open",
    },
  ];
}

function fleetToolStatements(settings: ConfigValueReader): PostureStatement[] {
  const agents = settings.list("may_trigger");
  const canSchedule = settings.names("may_schedule").length > 0;
  return [
    ...(agents.length > 0 ? listStatement(agents, "Can delegate to:", "plain") : []),
    ...(canSchedule ? [{ text: "Can schedule future runs.", weight: "plain" } as const] : []),
  ];
}
