import type { Problem } from "../document/problem.ts";
import { placeOf, type Tree } from "../document/tree.ts";
import type { ResolvedAgent } from "./resolve.ts";

interface PlacedAgent {
  agent: ResolvedAgent;
  tree: Tree;
}

/** Two agents that hear the same would both answer it. */
export function checkSharedChats(agents: readonly PlacedAgent[]): Problem[] {
  return agents.flatMap((one, index) =>
    agents
      .slice(0, index)
      .flatMap((other) => [...sameBot(one, other), ...sameChannels(one, other)]),
  );
}

function sameBot({ agent, tree }: PlacedAgent, { agent: other }: PlacedAgent): Problem[] {
  const token = agent.chat?.discord?.token_env;
  if (token === undefined || token !== other.chat?.discord?.token_env) return [];
  const path = ["chat", "discord", "token_env"];
  return [
    {
      ...placeOf(tree, path),
      path: path.join("."),
      message: `\`${other.name}\` is the same bot`,
      hint: "Make an application for each agent in Discord, with a token of its own.",
    },
  ];
}

/** In Slack agents may share an app, in channels of their own. */
function sameChannels({ agent, tree }: PlacedAgent, { agent: other }: PlacedAgent): Problem[] {
  const [one, two] = [agent.chat?.slack, other.chat?.slack];
  if (!one || !two || one.app_token_env !== two.app_token_env) return [];
  const [mine, theirs] = [Object.keys(one.channels), Object.keys(two.channels)];
  const isApart = mine.length > 0 && theirs.length > 0 && !mine.some((id) => theirs.includes(id));
  const isDirectApart = areApart(one.direct_messages, two.direct_messages);
  if (isApart && isDirectApart) return [];
  const path = ["chat", "slack", isApart ? "direct_messages" : "channels"];
  return [
    {
      ...placeOf(tree, isApart ? path : path.slice(0, 2)),
      path: path.join("."),
      message: `\`${other.name}\` is the same app and would answer the same messages`,
      hint: "Give each of them `channels` and `direct_messages` of its own, or an app of its own.",
    },
  ];
}

/** `*` is everybody, whoever the other one names. */
function areApart(one: readonly string[], two: readonly string[]): boolean {
  if (one.length === 0 || two.length === 0) return true;
  const isForAll = one.includes("*") || two.includes("*");
  return !isForAll && !one.some((id) => two.includes(id));
}
