import type { Problem } from "@herdctl/protocol";
import { cliFlags } from "../claude-code/cli-flags.ts";
import { keyPositionOf, type Tree, toValue, treeAt } from "../yaml/tree.ts";

type Path = readonly (string | number)[];

/** Options that Claude Code would refuse, or ignore without saying so. */
export function checkClaudeOptions(agent: Tree): Problem[] {
  return [
    ...conflicts.flatMap(({ at, when, message, hint }) =>
      treeAt(agent, at) && when(agent) ? [problem(agent, at, message, hint)] : [],
    ),
    ...checkExtraArguments(agent),
    ...checkSubagents(agent),
    ...checkPermissionTool(agent),
  ];
}

interface Conflict {
  /** The field to report. */
  at: Path;
  when: (agent: Tree) => boolean;
  message: string;
  hint: string;
}

const conflicts: readonly Conflict[] = [
  {
    at: ["system_prompt", "append"],
    when: (agent) => has(agent, "system_prompt", "replace"),
    message: "`append` adds to Claude Code's system prompt, which `replace` removes",
    hint: "Put both texts into `replace`.",
  },
  {
    at: ["system_prompt", "exclude_dynamic"],
    when: (agent) => has(agent, "system_prompt", "replace"),
    message: "`exclude_dynamic` has no effect on a replaced system prompt",
    hint: "Remove one of the two.",
  },
  {
    at: ["permission_prompt_tool"],
    when: (agent) => fieldValue(agent, "permission_prompts") === "none",
    message: "with `permission_prompts: none` nothing is asked, also not this tool",
    hint: "Remove one of the two.",
  },
  {
    at: ["restricted"],
    when: (agent) =>
      fieldValue(agent, "restricted") === true &&
      fieldValue(agent, "permission_mode") === "bypassPermissions",
    message: "Claude Code does not start restricted with `permission_mode: bypassPermissions`",
    hint: "Choose another `permission_mode`.",
  },
  {
    at: ["thinking_display"],
    when: (agent) => fieldValue(agent, "thinking") === "disabled",
    message: "there is no thinking to display with `thinking: disabled`",
    hint: "Remove one of the two.",
  },
  {
    at: ["project_config_root"],
    when: (agent) => !listOf(agent, "setting_sources").includes("project"),
    message: "project settings are not loaded, so this has no effect",
    hint: "Add `setting_sources: [user, project]`.",
  },
  {
    at: ["session", "mode"],
    when: (agent) => isEphemeral(agent) && has(agent, "chat"),
    message: "conversations in a chat resume their session, and an ephemeral one cannot be resumed",
    hint: "Use `fresh` or `persistent`.",
  },
  {
    at: ["session", "mode"],
    when: (agent) =>
      isEphemeral(agent) && fieldValue(agent, "runtime", "stream") === "session-file",
    message:
      "`stream: session-file` reads the transcript, which an ephemeral session does not have",
    hint: "Use `stream: stdout`, or another mode.",
  },
  {
    at: ["session", "mode"],
    when: (agent) =>
      isEphemeral(agent) &&
      keysOf(agent, "schedules").some(
        (name) => fieldValue(agent, "schedules", name, "resume_session") === true,
      ),
    message: "a schedule resumes its session, and an ephemeral one cannot be resumed",
    hint: "Remove `resume_session: true` from the schedule, or use another mode.",
  },
  {
    at: ["permission_mode"],
    when: (agent) =>
      fieldValue(agent, "permission_mode") === "auto" &&
      String(fieldValue(agent, "model") ?? "").includes("haiku"),
    message: "this model does not support `auto`; Claude Code would use `default`",
    hint: "Choose another model or mode.",
  },
];

/** Only flags that have no other place in the configuration. */
function checkExtraArguments(agent: Tree): Problem[] {
  return keysOf(agent, "extra_args").flatMap((name) => {
    const at = ["extra_args", name];
    if (!/^[A-Za-z][A-Za-z-]*$/.test(name))
      return [
        problem(
          agent,
          at,
          `\`${name}\` is not the name of a flag`,
          "Write the flag without dashes at its beginning, and its value after the colon.",
        ),
      ];
    const known = cliFlags[name];
    if (known === undefined || "unattended" in known) return [];
    return [
      "exposed" in known
        ? problem(agent, at, `\`--${name}\` has its own key`, `Use \`${known.exposed}\`.`)
        : problem(agent, at, `\`--${name}\` is decided by herdctl: ${known.owned}`, "Remove it."),
    ];
  });
}

function checkSubagents(agent: Tree): Problem[] {
  const servers = keysOf(agent, "mcp_servers");
  const main = fieldValue(agent, "main_agent");
  return keysOf(agent, "subagents").flatMap((name) => {
    const at = ["subagents", name];
    const unknown = listOf(agent, ...at, "mcp_servers").flatMap((server, index) =>
      servers.includes(String(server))
        ? []
        : [
            problem(
              agent,
              [...at, "mcp_servers", index],
              `there is no server \`${server}\` in \`mcp_servers\``,
              "Add the server to the agent, or correct the name.",
            ),
          ],
    );
    const isUseless = has(agent, ...at, "initial_prompt") && main !== name;
    return isUseless
      ? [
          ...unknown,
          problem(
            agent,
            [...at, "initial_prompt"],
            "only the `main_agent` has an initial prompt",
            `Add \`main_agent: ${name}\`, or remove it.`,
          ),
        ]
      : unknown;
  });
}

function checkPermissionTool(agent: Tree): Problem[] {
  const tool = fieldValue(agent, "permission_prompt_tool");
  const servers = keysOf(agent, "mcp_servers");
  if (typeof tool !== "string" || servers.some((name) => tool.startsWith(`mcp__${name}__`)))
    return [];
  return [
    problem(
      agent,
      ["permission_prompt_tool"],
      `\`${tool}\` belongs to no server in \`mcp_servers\``,
      "Add the server to the agent, or correct the name.",
    ),
  ];
}

function isEphemeral(agent: Tree): boolean {
  return fieldValue(agent, "session", "mode") === "ephemeral";
}

function has(agent: Tree, ...path: Path): boolean {
  return treeAt(agent, path) !== undefined;
}

function fieldValue(agent: Tree, ...path: Path): unknown {
  const found = treeAt(agent, path);
  return found && toValue(found);
}

function listOf(agent: Tree, ...path: Path): unknown[] {
  const value = fieldValue(agent, ...path);
  return Array.isArray(value) ? value : [];
}

function keysOf(agent: Tree, key: string): string[] {
  const found = treeAt(agent, [key]);
  return found?.kind === "map" ? [...found.entries.keys()] : [];
}

function problem(agent: Tree, path: Path, message: string, hint: string): Problem {
  return { ...keyPositionOf(agent, [...path]), path: path.join("."), message, hint };
}
