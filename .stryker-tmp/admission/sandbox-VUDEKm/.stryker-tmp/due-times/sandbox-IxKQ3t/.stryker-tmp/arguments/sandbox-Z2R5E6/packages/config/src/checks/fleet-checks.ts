import type { Problem } from "@herdctl/protocol";
import type { Environment } from "../environment.ts";
import type { FleetFile } from "../schema/fleet.ts";
import { decodeUriOrKeep, passwordOf } from "../secret-values.ts";
import { keyPositionOf, type Tree, treeAt, valuePositionOf } from "../yaml/tree.ts";
import type { AgentWithTree } from "./host-commands.ts";

/**
 * A fleet file is shared and kept in git, so the password of its store must come from the
 * environment.
 */
export function checkStorePassword(
  { store }: Pick<FleetFile, "store">,
  tree: Tree,
  environment: Environment,
): Problem[] {
  const password = store === undefined ? undefined : passwordOf(store);
  if (password === undefined || isFromEnvironment(password, treeAt(tree, ["store"]), environment)) {
    return [];
  }
  return [
    {
      ...valuePositionOf(tree, ["store"]),
      path: "store",
      message: "the database password is written in this file",
      hint: "Move the whole address to a variable, in `.env` or the environment, and write `store: ${HERDCTL_STORE}`.",
    },
  ];
}

function isFromEnvironment(
  password: string,
  written: Tree | undefined,
  environment: Environment,
): boolean {
  if (written?.kind !== "scalar") return false;
  return written.variables.some((name) => {
    const value = environment[name] ?? "";
    const forms = [value, decodeUriOrKeep(value), passwordOf(value)];
    return forms.some((form) => form?.includes(password));
  });
}

/** All agents together may keep at most `fleet.max_keep_alive` processes ready. */
export function checkKeepAliveLimit(
  agents: readonly AgentWithTree[],
  maxProcesses: number,
): Problem[] {
  const path = ["keep_alive", "processes"];
  const keepAliveAgents = agents.filter(({ agent }) => agent.keep_alive.processes > 0);
  const wanted = keepAliveAgents.reduce((sum, { agent }) => sum + agent.keep_alive.processes, 0);
  const last = keepAliveAgents.at(-1);
  if (!last || wanted <= maxProcesses) return [];
  return [
    {
      ...(treeAt(last.tree, path)?.place ?? keyPositionOf(last.tree, path)),
      path: path.join("."),
      message: `the agents keep ${wanted} processes ready, but the fleet keeps at most ${maxProcesses}`,
      hint: `Set \`max_keep_alive: ${wanted}\` or more under \`fleet\` in herdctl.yaml.`,
    },
  ];
}

/** Two agents that listen to the same messages would both answer them. */
export function checkChatConflicts(agents: readonly AgentWithTree[]): Problem[] {
  return agents.flatMap((agent, index) =>
    agents
      .slice(0, index)
      .flatMap((other) => [...checkSameBot(agent, other), ...checkSameChannels(agent, other)]),
  );
}

function checkSameBot({ agent, tree }: AgentWithTree, { agent: other }: AgentWithTree): Problem[] {
  const token = agent.chat?.discord?.token_env;
  if (token === undefined || token !== other.chat?.discord?.token_env) return [];
  const path = ["chat", "discord", "token_env"];
  return [
    {
      ...keyPositionOf(tree, path),
      path: path.join("."),
      message: `\`${other.name}\` uses the same Discord bot`,
      hint: "Create a separate Discord application, with its own token, for each agent.",
    },
  ];
}

/** Slack agents may share an app if their channels and direct message users differ. */
function checkSameChannels(
  { agent, tree }: AgentWithTree,
  { agent: other }: AgentWithTree,
): Problem[] {
  const [own, theirs] = [agent.chat?.slack, other.chat?.slack];
  if (!own || !theirs || own.app_token_env !== theirs.app_token_env) return [];
  const [ownChannels, theirChannels] = [Object.keys(own.channels), Object.keys(theirs.channels)];
  const hasOwnChannels =
    ownChannels.length > 0 &&
    theirChannels.length > 0 &&
    !ownChannels.some((id) => theirChannels.includes(id));
  const hasOwnDirectMessages = areDisjoint(own.direct_message_users, theirs.direct_message_users);
  if (hasOwnChannels && hasOwnDirectMessages) return [];
  const path = ["chat", "slack", hasOwnChannels ? "direct_message_users" : "channels"];
  return [
    {
      ...keyPositionOf(tree, hasOwnChannels ? path : path.slice(0, 2)),
      path: path.join("."),
      message: `\`${other.name}\` uses the same Slack app and would answer the same messages`,
      hint: "Give each agent different `channels` and `direct_message_users`, or a separate app.",
    },
  ];
}

/** `*` stands for every user, so it overlaps with every list. */
function areDisjoint(own: readonly string[], theirs: readonly string[]): boolean {
  if (own.length === 0 || theirs.length === 0) return true;
  const isForAll = own.includes("*") || theirs.includes("*");
  return !isForAll && !own.some((id) => theirs.includes(id));
}
