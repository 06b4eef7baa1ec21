import type { ModelRequest } from "../request/model-request.ts";
import type { Fault } from "../script/fault.ts";
import type { CheckedScript, Rule } from "../script/script-schema.ts";
import type { Reply } from "./api-message.ts";
import { obedientReply } from "./obedient-reply.ts";
import { findRulePosition, type RulePosition } from "./rule-position.ts";
import { sideReply } from "./side-reply.ts";

export interface ModelAnswer {
  rule: string | undefined;
  fault: Fault | undefined;
  reply: Reply;
}

/** The scripted model. Its only state is how often limited rules and faults were used. */
export class ScriptedModel {
  private readonly ruleStarts = new Map<Rule, Set<string>>();
  private readonly faultsUsed = new Map<Rule, number>();

  constructor(
    private readonly script: CheckedScript,
    private readonly isObedient: boolean,
  ) {}

  answer(request: ModelRequest): ModelAnswer {
    let fault: Fault | undefined;
    for (const [index, rule] of this.script.rules.entries()) {
      const position = findRulePosition(rule, request);
      if (!position || !this.isWithinLimit(rule, position, request)) continue;
      fault ??= this.takeFault(rule);
      if (position.reply === undefined) continue;
      return { rule: rule.name ?? `rule ${index + 1}`, fault, reply: position.reply };
    }
    return { rule: undefined, fault, reply: this.fallback(request) };
  }

  private fallback(request: ModelRequest): Reply {
    if (request.speaker === "side") return sideReply(request);
    if (this.isObedient) return obedientReply(request);
    return this.script.default ?? echoPrompt(request.conversation.currentCall.prompt);
  }

  /** Retries do not count as new uses, so uses are identified by session and position. */
  private isWithinLimit(rule: Rule, position: RulePosition, request: ModelRequest): boolean {
    if (rule.times === undefined) return true;
    const ruleStarts = this.ruleStarts.get(rule) ?? new Set();
    this.ruleStarts.set(rule, ruleStarts);
    const { sessionId, agentId } = request;
    if (sessionId === undefined && position.index > 0) return true;
    const start = `${sessionId ?? ruleStarts.size} ${agentId ?? ""} ${position.startTurn}`;
    if (ruleStarts.has(start)) return true;
    if (position.index > 0 || ruleStarts.size >= rule.times) return false;
    ruleStarts.add(start);
    return true;
  }

  private takeFault(rule: Rule): Fault | undefined {
    const usedCount = this.faultsUsed.get(rule) ?? 0;
    let limitSoFar = 0;
    for (const fault of [rule.fault ?? []].flat()) {
      limitSoFar += fault.times ?? Number.POSITIVE_INFINITY;
      if (usedCount >= limitSoFar) continue;
      this.faultsUsed.set(rule, usedCount + 1);
      return fault;
    }
    return undefined;
  }
}

function echoPrompt(prompt: string): string {
  const excerpt = prompt.length > 200 ? `${prompt.slice(0, 199)}…` : prompt;
  return `This is the rehearsal model. No rule of the script matches, so it repeats the prompt: ${excerpt}`;
}
