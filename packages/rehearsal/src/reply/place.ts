import type { Moment } from "../request/conversation.ts";
import type { ModelRequest } from "../request/model-request.ts";
import type { Match, Rule, ScriptReply } from "../script/schema.ts";
import { type Pattern, toPattern } from "../script/values.ts";

export interface RulePlace {
  /** The turn at which the rule began to answer. */
  startTurn: number;
  /** How many of its replies came before this one. */
  index: number;
  /** Undefined for a rule that only lays a fault over what others answer. */
  reply: ScriptReply | undefined;
}

/**
 * Where a request stands in the replies of a rule, told from the conversation alone. A rule begins
 * at a prompt, or where `tool_result` or `turn` holds, and then gives one reply per step until
 * they are used up or a new prompt comes.
 */
export function placeInRule(rule: Rule, request: ModelRequest): RulePlace | undefined {
  const match = rule.match ?? {};
  if (!fitsRequest(match, request)) return undefined;
  const { past, now } = request.conversation;
  const replies = rule.replies ?? [rule.reply].filter((reply) => reply !== undefined);
  if (replies.length === 0) {
    return holdsAt(match, now) ? { startTurn: now.turn, index: 0, reply: undefined } : undefined;
  }
  let start: Moment | undefined;
  for (const moment of [...past, now]) {
    if (moment.promptNumber !== now.promptNumber) continue;
    const over = start && !rule.repeat && moment.turn - start.turn >= replies.length;
    if (over) start = undefined;
    if (!start && beginsAt(match, moment)) start = moment;
  }
  if (!start) return undefined;
  const index = now.turn - start.turn;
  return { startTurn: start.turn, index, reply: replies[index % replies.length] };
}

function fitsRequest(match: Match, request: ModelRequest): boolean {
  const from = match.from ?? "main";
  return (
    (from === "any" || from === request.speaker) &&
    finds(match.system, request.conversation.system) &&
    finds(match.model, request.body.model)
  );
}

function beginsAt(match: Match, moment: Moment): boolean {
  const waits = match.tool_result !== undefined || match.turn !== undefined;
  return (waits || moment.step === 0) && holdsAt(match, moment);
}

function holdsAt(match: Match, moment: Moment): boolean {
  return (
    finds(match.prompt, moment.prompt) &&
    finds(match.tool_result, moment.toolResults) &&
    (match.tag === undefined || moment.prompt.includes(`[[tag:${match.tag}]]`)) &&
    (match.turn === undefined || match.turn === moment.turn)
  );
}

const patterns = new Map<string, Pattern>();

function finds(text: string | undefined, where: string): boolean {
  if (text === undefined) return true;
  const pattern = patterns.get(text) ?? toPattern(text);
  patterns.set(text, pattern);
  return pattern(where);
}
