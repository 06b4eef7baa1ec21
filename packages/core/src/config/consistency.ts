import type { Problem } from "../document/problem.ts";
import { at, placeOf, type Tree, valuePlaceOf } from "../document/tree.ts";
import { decidedVariables } from "./decided-variables.ts";

/**
 * What is wrong between fields that are each fine alone. It works on the merged tree, so that it
 * reports in the same run as everything else even when other fields are wrong.
 */
export function checkConsistency(agent: Tree): Problem[] {
  return checks.flatMap((check) => check(agent));
}

type Check = (agent: Tree) => Problem[];

const checks: Check[] = [
  function subscriptionNeedsTheCli(agent) {
    const wrong = runtimeType(agent) === "sdk" && text(agent, "credential") === "subscription";
    return wrong
      ? [
          problem(
            agent,
            ["credential"],
            "the SDK runtime cannot use a subscription",
            "Add `runtime: cli`, or use `credential: api_key`.",
          ),
        ]
      : [];
  },
  function containersNeedAWayToTheSubscription(agent) {
    if (!runsInDocker(agent) || text(agent, "credential") !== "subscription") return [];
    return ["env", "mount"].includes(text(agent, "docker", "auth") ?? "")
      ? []
      : [
          problem(
            agent,
            ["credential"],
            "the subscription has no way into the container",
            "Add `docker: { auth: env }` or `auth: mount` in the fleet file, or use `credential: api_key`.",
          ),
        ];
  },
  function sessionFileIsForTheCli(agent) {
    if (text(agent, "runtime", "stream") !== "session-file") return [];
    const path = ["runtime", "stream"];
    if (runtimeType(agent) === "sdk") {
      return [
        problem(
          agent,
          path,
          "only the CLI runtime reads the session file",
          "Add `type: cli`, or remove `stream`.",
        ),
      ];
    }
    const mode = text(agent, "permission_mode") ?? "default";
    return mode === "default"
      ? [
          problem(
            agent,
            path,
            "nobody can be asked for permission through a session file",
            "Choose another `permission_mode`, or `stream: stdout`.",
          ),
        ]
      : [];
  },
  function sessionFileReachesNoServerOutside(agent) {
    if (text(agent, "runtime", "stream") !== "session-file" || !runsInDocker(agent)) return [];
    const outside = keys(agent, "mcp_servers").filter(
      (name) => text(agent, "mcp_servers", name, "run") !== "container",
    );
    if (outside.length === 0) return [];
    const names = outside.map((name) => `\`${name}\``).join(", ");
    return [
      problem(
        agent,
        ["runtime", "stream"],
        `MCP servers outside the container cannot be reached by a session file: ${names}`,
        "Use `stream: stdout`, or add `run: container` to these servers.",
      ),
    ];
  },
  function sessionFileHasNoToolsOfOurs(agent) {
    if (text(agent, "runtime", "stream") !== "session-file") return [];
    const demanding = keys(agent, "schedules").filter((name) =>
      at(agent, ["schedules", name, "output_schema"]),
    );
    if (list(agent, "tools").length === 0 && demanding.length === 0) return [];
    return [
      problem(
        agent,
        ["runtime", "stream"],
        "`tools` and reports need the control protocol, which a session file leaves alone",
        "Use `stream: stdout`, or remove `tools` and `output_schema`.",
      ),
    ];
  },
  function herdIsTheNameOfOurOwnServer(agent) {
    return keys(agent, "mcp_servers")
      .filter((name) => name === "herd")
      .map((name) =>
        problem(
          agent,
          ["mcp_servers", name],
          "`herd` is the name of the server with the fleet's own tools",
          "Give this server another name.",
        ),
      );
  },
  function fallbackIsAnotherModel(agent) {
    const model = text(agent, "model");
    return model !== undefined && model === text(agent, "fallback_model")
      ? [
          problem(
            agent,
            ["fallback_model"],
            "the fallback is the model itself",
            "Name another model, or remove it.",
          ),
        ]
      : [];
  },
  function schedulesHaveSomethingToSay(agent) {
    if (at(agent, ["default_prompt"]) || at(agent, ["work_source"])) return [];
    return keys(agent, "schedules")
      .filter((name) => text(agent, "schedules", name, "type") !== "chat")
      .filter((name) => !at(agent, ["schedules", name, "prompt"]))
      .map((name) =>
        problem(
          agent,
          ["schedules", name],
          "this schedule has no prompt",
          "Add `prompt:` here, or `default_prompt:` to the agent.",
        ),
      );
  },
  function promptsNameWhatThereIs(agent) {
    return keys(agent, "schedules").flatMap((name) => {
      const path = ["schedules", name, "prompt"];
      const gate = at(agent, ["schedules", name, "gate"]);
      const places = placesOf(agent, name);
      if (!places) return [];
      return [...(text(agent, ...path) ?? "").matchAll(/\{\{\s*([\w.-]+)\s*\}\}/g)]
        .filter(([, place = ""]) =>
          place === "gate.output" ? !gate : !places.includes(place.split(".")[0] ?? ""),
        )
        .map(([whole, place]) =>
          problem(
            agent,
            path,
            `nothing can be put in place of \`${whole}\``,
            place === "gate.output"
              ? "Add a `gate:` whose output it is to be."
              : `Here only ${[...places, "gate.output"].map((one) => `\`{{${one}}}\``).join(", ")} stands for something.`,
          ),
        );
    });
  },
  function chatSchedulesNeedAChat(agent) {
    if (at(agent, ["chat"])) return [];
    return keys(agent, "schedules")
      .filter((name) => text(agent, "schedules", name, "type") === "chat")
      .map((name) =>
        problem(
          agent,
          ["schedules", name],
          "the agent is in no chat",
          "Add a `chat:` block with `discord` or `slack`.",
        ),
      );
  },
  function somebodyMaySpeak(agent) {
    return ["discord", "slack"]
      .map((platform) => ["chat", platform])
      .filter((path) => at(agent, path)?.kind === "map")
      .filter((path) =>
        ["users", "roles", "direct_messages"].every((list) => !at(agent, [...path, list])),
      )
      .map((path) =>
        problem(
          agent,
          path,
          "nobody may speak to the agent here",
          "Name people with `users`, `roles` or `direct_messages`.",
        ),
      );
  },
  function signaturesNameTheirHeader(agent) {
    return keys(agent, "schedules")
      .map((name) => ["schedules", name, "signature"])
      .filter((path) => text(agent, ...path, "kind") === "hmac")
      .filter((path) => !at(agent, [...path, "header"]))
      .map((path) =>
        problem(
          agent,
          [...path, "kind"],
          "the header of the signature is not named",
          "Add `header:`, such as `X-Signature`.",
        ),
      );
  },
  function peopleAreKnownByGithubAlone(agent) {
    return keys(agent, "schedules")
      .filter((name) => text(agent, "schedules", name, "type") === "webhook")
      .filter((name) => text(agent, "schedules", name, "signature", "kind") !== "github")
      .flatMap((name) => ["from", "command"].map((field) => ["schedules", name, field]))
      .filter((path) => at(agent, path))
      .map((path) =>
        problem(
          agent,
          path,
          `\`${path.at(-1)}\` is for webhooks of GitHub`,
          "Remove it, or use `filter`.",
        ),
      );
  },
  function toolsAreNotBothAllowedAndDenied(agent) {
    const denied = new Set(list(agent, "denied_tools"));
    return list(agent, "allowed_tools").flatMap((tool, index) =>
      denied.has(tool)
        ? [
            problem(
              agent,
              ["allowed_tools", index],
              `\`${tool}\` is both allowed and denied`,
              "Remove it from one of the two lists.",
            ),
          ]
        : [],
    );
  },
  function someVariablesAreNotTheAgents(agent) {
    const paths = [["env"], ["docker", "env"]];
    return paths
      .flatMap((path) => decidedVariables.map((name) => [...path, name]))
      .filter((path) => at(agent, path))
      .map((path) =>
        problem(
          agent,
          path,
          `herdctl itself decides on ${path.at(-1)}`,
          "Remove it here; set it in the environment of herdctl, or in `.env` beside the fleet file.",
        ),
      );
  },
];

const timedTypes = ["interval", "cron", "at"];

/** What a prompt may name beside the output of a gate; undefined where that is not looked at. */
function placesOf(agent: Tree, schedule: string): string[] | undefined {
  const type = text(agent, "schedules", schedule, "type") ?? "";
  if (type === "webhook") return ["payload", "event", "command"];
  return timedTypes.includes(type) && !at(agent, ["work_source"]) ? [] : undefined;
}

function runtimeType(agent: Tree): string {
  return text(agent, "runtime", "type") ?? text(agent, "runtime") ?? "sdk";
}

function runsInDocker(agent: Tree): boolean {
  const enabled = at(agent, ["docker", "enabled"]);
  return enabled?.kind === "scalar" && enabled.value === true;
}

function text(tree: Tree, ...path: (string | number)[]): string | undefined {
  const found = at(tree, path);
  return found?.kind === "scalar" && typeof found.value === "string" ? found.value : undefined;
}

function keys(tree: Tree, key: string): string[] {
  const found = at(tree, [key]);
  return found?.kind === "map" ? [...found.entries.keys()] : [];
}

function list(tree: Tree, key: string): (string | undefined)[] {
  const found = at(tree, [key]);
  return found?.kind === "list" ? found.items.map((_, index) => text(tree, key, index)) : [];
}

function problem(agent: Tree, path: (string | number)[], message: string, hint: string): Problem {
  const last = path.at(-1);
  const place = typeof last === "number" ? valuePlaceOf(agent, path) : placeOf(agent, path);
  return { ...place, path: path.join("."), message, hint };
}
