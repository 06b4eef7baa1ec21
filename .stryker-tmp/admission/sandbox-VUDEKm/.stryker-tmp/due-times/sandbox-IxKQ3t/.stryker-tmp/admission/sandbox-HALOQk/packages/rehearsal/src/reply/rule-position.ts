import type { ModelCall } from "../request/conversation.ts";
import type { ModelRequest } from "../request/model-request.ts";
import type { Match, Rule, ScriptReply } from "../script/script-schema.ts";
import { type TextMatcher, toTextMatcher } from "../script/value-schemas.ts";

export interface RulePosition {
  /** The turn of the rule's first reply. */
  startTurn: number;
  /** The number of the rule's earlier replies. */
  index: number;
  /** Undefined for a rule that only adds a fault to the replies of other rules. */
  reply: ScriptReply | undefined;
}

/**
 * Finds the position of a request in the replies of a rule, based only on the conversation. A rule
 * starts at a prompt, or where `tool_result` or `turn` matches. It then gives one reply per step until
 * the replies are used up or a new prompt arrives.
 */
export function findRulePosition(rule: Rule, request: ModelRequest): RulePosition | undefined {
  const match = rule.match ?? {};
  if (!matchesRequest(match, request)) return undefined;
  const { pastCalls, currentCall } = request.conversation;
  const replies = rule.replies ?? [rule.reply].filter((reply) => reply !== undefined);
  if (replies.length === 0) {
    return matchesMoment(match, currentCall)
      ? { startTurn: currentCall.turn, index: 0, reply: undefined }
      : undefined;
  }
  let start: ModelCall | undefined;
  for (const moment of [...pastCalls, currentCall]) {
    if (moment.promptNumber !== currentCall.promptNumber) continue;
    const isExhausted = start && !rule.repeat && moment.turn - start.turn >= replies.length;
    if (isExhausted) start = undefined;
    if (!start && startsAt(match, moment)) start = moment;
  }
  if (!start) return undefined;
  const index = currentCall.turn - start.turn;
  return { startTurn: start.turn, index, reply: replies[index % replies.length] };
}

function matchesRequest(match: Match, request: ModelRequest): boolean {
  const from = match.from ?? "main";
  return (
    (from === "any" || from === request.speaker) &&
    matchesPattern(match.system, request.conversation.system) &&
    matchesPattern(match.model, request.body.model)
  );
}

function startsAt(match: Match, moment: ModelCall): boolean {
  const hasLaterTrigger = match.tool_result !== undefined || match.turn !== undefined;
  return (hasLaterTrigger || moment.step === 0) && matchesMoment(match, moment);
}

function matchesMoment(match: Match, moment: ModelCall): boolean {
  return (
    matchesPattern(match.prompt, moment.prompt) &&
    matchesPattern(match.tool_result, moment.toolResults) &&
    (match.tag === undefined || moment.prompt.includes(`[[tag:${match.tag}]]`)) &&
    (match.turn === undefined || match.turn === moment.turn)
  );
}

const patterns = new Map<string, TextMatcher>();

function matchesPattern(text: string | undefined, where: string): boolean {
  if (text === undefined) return true;
  const pattern = patterns.get(text) ?? toTextMatcher(text);
  patterns.set(text, pattern);
  return pattern(where);
}
