import { fitsPattern } from "../../config/pattern.ts";
import type { ResolvedAgent } from "../../config/resolve.ts";

export type PlanBounds = ResolvedAgent["may_schedule"];

/** A run that an agent wants to plan for itself. */
export interface WantedRun {
  at: Date;
  prompt: string;
}

/** Whether it may do so alone, or a person has to say so, or it makes no sense at all. */
export type PlanDecision =
  | { kind: "allow" }
  | { kind: "ask"; why: string }
  | { kind: "refuse"; why: string };

export function decidePlan(
  { at, prompt }: WantedRun,
  bounds: PlanBounds,
  { open, now }: { open: number; now: Date },
): PlanDecision {
  const lead = at.getTime() - now.getTime();
  if (lead <= 0) return { kind: "refuse", why: "This time has passed." };
  if (!bounds) return ask("It has no `may_schedule`.");
  const { at_most, not_before, prompts } = bounds;
  if (open >= at_most) return ask(`It has ${open} planned runs already; it may have ${at_most}.`);
  if (lead < not_before) return ask("It wants to run earlier than it may (`not_before`).");
  if (prompts && !prompts.some((pattern) => fitsPattern(pattern, prompt)))
    return ask("The prompt is none of those that it may use.");
  return { kind: "allow" };
}

function ask(why: string): PlanDecision {
  return { kind: "ask", why };
}
