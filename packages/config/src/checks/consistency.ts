import type { Problem } from "@herdctl/protocol";
import { withCause } from "../problem-cause.ts";
import { reservedVariables } from "../reserved-variables.ts";
import { keyPositionOf, type Tree, treeAt, valuePositionOf } from "../yaml/tree.ts";
import { checkClaudeOptions } from "./claude-options.ts";

/**
 * Checks that combine several fields of an agent. They run on the merged tree, so their problems
 * are reported together with those of the schema.
 */
export function checkConsistency(agent: Tree): Problem[] {
  return [...checks.flatMap((check) => check(agent)), ...checkClaudeOptions(agent)];
}

type Check = (agent: Tree) => Problem[];

const checks: Check[] = [
  function subscriptionNeedsCli(agent) {
    const wrong = runtimeType(agent) === "sdk" && textAt(agent, "credential") === "subscription";
    return wrong
      ? [
          problemAt(
            agent,
            ["credential"],
            "the SDK runtime cannot use a subscription",
            "Add `runtime: cli`, or use `credential: api_key`.",
          ),
        ]
      : [];
  },
  function containersNeedSubscriptionAuth(agent) {
    if (!isDockerEnabled(agent) || textAt(agent, "credential") !== "subscription") return [];
    return ["env", "mount"].includes(textAt(agent, "docker", "auth") ?? "")
      ? []
      : [
          problemAt(
            agent,
            ["credential"],
            "the container has no access to the subscription",
            "Add `docker: { auth: env }` or `auth: mount` in the fleet file, or use `credential: api_key`.",
          ),
        ];
  },
  function sessionFileNeedsCli(agent) {
    if (textAt(agent, "runtime", "stream") !== "session-file") return [];
    const path = ["runtime", "stream"];
    if (runtimeType(agent) === "sdk") {
      return [
        problemAt(
          agent,
          path,
          "only the CLI runtime reads the session file",
          "Add `type: cli`, or remove `stream`.",
        ),
      ];
    }
    const mode = textAt(agent, "permission_mode") ?? "default";
    return mode === "default"
      ? [
          problemAt(
            agent,
            path,
            "`stream: session-file` cannot ask for permission",
            "Choose another `permission_mode`, or `stream: stdout`.",
          ),
        ]
      : [];
  },
  function sessionFileNeedsContainerServers(agent) {
    if (textAt(agent, "runtime", "stream") !== "session-file" || !isDockerEnabled(agent)) return [];
    const outside = mapKeysAt(agent, "mcp_servers").filter(
      (name) => textAt(agent, "mcp_servers", name, "run") !== "container",
    );
    if (outside.length === 0) return [];
    const names = outside.map((name) => `\`${name}\``).join(", ");
    return [
      problemAt(
        agent,
        ["runtime", "stream"],
        `\`stream: session-file\` cannot use MCP servers outside the container: ${names}`,
        "Use `stream: stdout`, or add `run: container` to these servers.",
      ),
    ];
  },
  function sessionFileHasNoFleetTools(agent) {
    if (textAt(agent, "runtime", "stream") !== "session-file") return [];
    const reportSchedules = mapKeysAt(agent, "schedules").filter((name) =>
      treeAt(agent, ["schedules", name, "output_schema"]),
    );
    if (textsAt(agent, "tools").length === 0 && reportSchedules.length === 0) return [];
    return [
      problemAt(
        agent,
        ["runtime", "stream"],
        "`tools` and `output_schema` need the control protocol, which `stream: session-file` does not use",
        "Use `stream: stdout`, or remove `tools` and `output_schema`.",
      ),
    ];
  },
  function sandboxIsNotInDocker(agent) {
    if (!isDockerEnabled(agent) || !treeAt(agent, ["sandbox"])) return [];
    const enabled = treeAt(agent, ["sandbox", "enabled"]);
    if (enabled?.kind === "scalar" && enabled.value === false) return [];
    return [
      problemAt(
        agent,
        ["sandbox"],
        "Claude Code cannot set up its sandbox in a container: every command would fail",
        "Remove it: the container isolates the agent. `docker.network` and `docker.volumes` limit what it reaches.",
      ),
    ];
  },
  function herdServerNameIsReserved(agent) {
    return mapKeysAt(agent, "mcp_servers")
      .filter((name) => name === "herd")
      .map((name) =>
        problemAt(
          agent,
          ["mcp_servers", name],
          "the name `herd` is reserved for the server with the fleet's tools",
          "Give this server another name.",
        ),
      );
  },
  function fallbackModelDiffers(agent) {
    const model = textAt(agent, "model");
    const fallbacks = [textAt(agent, "fallback_model"), ...textsAt(agent, "fallback_model")];
    return model !== undefined && fallbacks.includes(model)
      ? [
          problemAt(
            agent,
            ["fallback_model"],
            "the fallback model is the same as `model`",
            "Name another model, or remove the key.",
          ),
        ]
      : [];
  },
  function schedulesHavePrompts(agent) {
    if (treeAt(agent, ["default_prompt"]) || treeAt(agent, ["work_source"])) return [];
    return mapKeysAt(agent, "schedules")
      .filter((name) => textAt(agent, "schedules", name, "type") !== "chat")
      .filter((name) => !treeAt(agent, ["schedules", name, "prompt"]))
      .map((name) =>
        withCause(
          problemAt(
            agent,
            ["schedules", name],
            "this schedule has no prompt",
            "Add `prompt:` here, or `default_prompt:` to the agent.",
          ),
          { kind: "prompt_missing" },
        ),
      );
  },
  function promptPlaceholdersExist(agent) {
    return mapKeysAt(agent, "schedules").flatMap((name) => {
      const path = ["schedules", name, "prompt"];
      const gate = treeAt(agent, ["schedules", name, "gate"]);
      const placeholders = promptPlaceholders(agent, name);
      if (!placeholders) return [];
      return [...(textAt(agent, ...path) ?? "").matchAll(/\{\{\s*([\w.-]+)\s*\}\}/g)]
        .filter(([, placeholder = ""]) =>
          placeholder === "gate.output"
            ? !gate
            : !placeholders.includes(placeholder.split(".")[0] ?? ""),
        )
        .map(([whole, placeholder]) =>
          problemAt(
            agent,
            path,
            `unknown placeholder \`${whole}\``,
            placeholder === "gate.output"
              ? "Add a `gate:`; the placeholder is replaced by its output."
              : `Available here: ${[...placeholders, "gate.output"].map((available) => `\`{{${available}}}\``).join(", ")}.`,
          ),
        );
    });
  },
  function chatSchedulesNeedChat(agent) {
    if (treeAt(agent, ["chat"])) return [];
    return mapKeysAt(agent, "schedules")
      .filter((name) => textAt(agent, "schedules", name, "type") === "chat")
      .map((name) =>
        problemAt(
          agent,
          ["schedules", name],
          "the agent has no chat platform",
          "Add a `chat:` block with `discord` or `slack`.",
        ),
      );
  },
  function chatNamesAllowedUsers(agent) {
    return ["discord", "slack"]
      .map((platform) => ["chat", platform])
      .filter((path) => treeAt(agent, path)?.kind === "map")
      .filter((path) =>
        ["users", "roles", "direct_message_users"].every((key) => !treeAt(agent, [...path, key])),
      )
      .map((path) =>
        problemAt(
          agent,
          path,
          "no user may talk to the agent here",
          "List users with `users`, `roles` or `direct_message_users`.",
        ),
      );
  },
  function hmacSignaturesNameHeader(agent) {
    return mapKeysAt(agent, "schedules")
      .map((name) => ["schedules", name, "signature"])
      .filter((path) => textAt(agent, ...path, "kind") === "hmac")
      .filter((path) => !treeAt(agent, [...path, "header"]))
      .map((path) =>
        problemAt(
          agent,
          [...path, "kind"],
          "`kind: hmac` needs a `header`",
          "Add `header:`, such as `X-Signature`.",
        ),
      );
  },
  function senderRulesNeedGithub(agent) {
    return mapKeysAt(agent, "schedules")
      .filter((name) => textAt(agent, "schedules", name, "type") === "webhook")
      .filter((name) => textAt(agent, "schedules", name, "signature", "kind") !== "github")
      .flatMap((name) =>
        ["allowed_senders", "comment_command"].map((field) => ["schedules", name, field]),
      )
      .filter((path) => treeAt(agent, path))
      .map((path) =>
        problemAt(
          agent,
          path,
          `\`${path.at(-1)}\` works only with \`kind: github\``,
          "Remove it, or use `filter`.",
        ),
      );
  },
  function toolsAreNotAllowedAndDenied(agent) {
    const denied = new Set(textsAt(agent, "denied_tools"));
    return textsAt(agent, "allowed_tools").flatMap((tool, index) =>
      denied.has(tool)
        ? [
            problemAt(
              agent,
              ["allowed_tools", index],
              `\`${tool}\` is both allowed and denied`,
              "Remove it from one of the two lists.",
            ),
          ]
        : [],
    );
  },
  function reservedVariablesAreNotSet(agent) {
    const paths = [["env"], ["docker", "env"]];
    return paths
      .flatMap((path) => reservedVariables.map((name) => [...path, name]))
      .filter((path) => treeAt(agent, path))
      .map((path) =>
        problemAt(
          agent,
          path,
          `herdctl sets ${path.at(-1)} itself`,
          "Remove it here. Set it in the environment of herdctl, or in `.env` next to the fleet file.",
        ),
      );
  },
];

const timedScheduleTypes = ["interval", "cron", "at"];

/**
 * The placeholders that a prompt may use besides the output of a gate; undefined where they are not
 * checked.
 */
function promptPlaceholders(agent: Tree, schedule: string): string[] | undefined {
  const type = textAt(agent, "schedules", schedule, "type") ?? "";
  if (type === "webhook") return ["payload", "event", "command"];
  return timedScheduleTypes.includes(type) && !treeAt(agent, ["work_source"]) ? [] : undefined;
}

function runtimeType(agent: Tree): string {
  return textAt(agent, "runtime", "type") ?? textAt(agent, "runtime") ?? "sdk";
}

function isDockerEnabled(agent: Tree): boolean {
  const enabled = treeAt(agent, ["docker", "enabled"]);
  return enabled?.kind === "scalar" && enabled.value === true;
}

function textAt(tree: Tree, ...path: (string | number)[]): string | undefined {
  const found = treeAt(tree, path);
  return found?.kind === "scalar" && typeof found.value === "string" ? found.value : undefined;
}

function mapKeysAt(tree: Tree, key: string): string[] {
  const found = treeAt(tree, [key]);
  return found?.kind === "map" ? [...found.entries.keys()] : [];
}

function textsAt(tree: Tree, key: string): (string | undefined)[] {
  const found = treeAt(tree, [key]);
  return found?.kind === "list" ? found.items.map((_, index) => textAt(tree, key, index)) : [];
}

function problemAt(agent: Tree, path: (string | number)[], message: string, hint: string): Problem {
  const last = path.at(-1);
  const place =
    typeof last === "number" ? valuePositionOf(agent, path) : keyPositionOf(agent, path);
  return { ...place, path: path.join("."), message, hint };
}
