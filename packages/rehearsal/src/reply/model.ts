import type { ModelRequest } from "../request/model-request.ts";
import type { Fault } from "../script/fault.ts";
import type { CheckedScript, Rule } from "../script/schema.ts";
import { errandReply } from "./errand.ts";
import type { Reply } from "./message.ts";
import { obey } from "./obey.ts";
import { placeInRule, type RulePlace } from "./place.ts";

export interface Answer {
  rule: string | undefined;
  fault: Fault | undefined;
  reply: Reply;
}

/** The scripted model. All it remembers is how often rules and faults with a limit were used. */
export class Model {
  private readonly starts = new Map<Rule, Set<string>>();
  private readonly faultsUsed = new Map<Rule, number>();

  constructor(
    private readonly script: CheckedScript,
    private readonly obedient: boolean,
  ) {}

  answer(request: ModelRequest): Answer {
    let fault: Fault | undefined;
    for (const [index, rule] of this.script.rules.entries()) {
      const place = placeInRule(rule, request);
      if (!place || !this.withinTimes(rule, place, request)) continue;
      fault ??= this.takeFault(rule);
      if (place.reply === undefined) continue;
      return { rule: rule.name ?? `rule ${index + 1}`, fault, reply: place.reply };
    }
    return { rule: undefined, fault, reply: this.fallback(request) };
  }

  private fallback(request: ModelRequest): Reply {
    if (request.speaker === "side") return errandReply(request);
    if (this.obedient) return obey(request);
    return this.script.default ?? echo(request.conversation.now.prompt);
  }

  /** A retry starts nothing new, so uses are told apart by session and place in it. */
  private withinTimes(rule: Rule, place: RulePlace, request: ModelRequest): boolean {
    if (rule.times === undefined) return true;
    const starts = this.starts.get(rule) ?? new Set();
    this.starts.set(rule, starts);
    const { sessionId, agentId } = request;
    if (sessionId === undefined && place.index > 0) return true;
    const start = `${sessionId ?? starts.size} ${agentId ?? ""} ${place.startTurn}`;
    if (starts.has(start)) return true;
    if (place.index > 0 || starts.size >= rule.times) return false;
    starts.add(start);
    return true;
  }

  private takeFault(rule: Rule): Fault | undefined {
    const used = this.faultsUsed.get(rule) ?? 0;
    let reach = 0;
    for (const fault of [rule.fault ?? []].flat()) {
      reach += fault.times ?? Number.POSITIVE_INFINITY;
      if (used >= reach) continue;
      this.faultsUsed.set(rule, used + 1);
      return fault;
    }
    return undefined;
  }
}

function echo(prompt: string): string {
  const shown = prompt.length > 200 ? `${prompt.slice(0, 199)}…` : prompt;
  return `This is the rehearsal model. No rule of the script matches, so here is the prompt back: ${shown}`;
}
