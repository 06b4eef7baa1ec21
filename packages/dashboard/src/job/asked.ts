import type { Approval } from "@herdctl/server/contract";
import type { ToolEntry } from "./entry.ts";
import { fieldsOf, listOf, textOf } from "./fields.ts";

export interface Asked {
  /** By the key of the tool call that they are about. */
  byTool: Map<string, Approval[]>;
  /** The tool call is not in the log, or not yet. */
  others: Approval[];
}

/**
 * Which tool call each approval is about. The record knows the tool and its input, not the call:
 * the same request made twice is two approvals, in the same order.
 */
export function matchApprovals(approvals: readonly Approval[], tools: Iterable<ToolEntry>): Asked {
  const asked: Asked = { byTool: new Map(), others: [] };
  if (approvals.length === 0) return asked;
  const calls = [...tools];
  const taken = new Set<string>();
  for (const approval of approvals) {
    const found = calls.find((call) => !taken.has(call.key) && isAbout(approval, call));
    if (!found) {
      asked.others.push(approval);
      continue;
    }
    // A call may ask several questions, but for permission only once.
    if (approval.kind === "permission") taken.add(found.key);
    asked.byTool.set(found.key, [...(asked.byTool.get(found.key) ?? []), approval]);
  }
  return asked;
}

function isAbout({ kind, tool, input, question }: Approval, call: ToolEntry): boolean {
  if (tool !== call.tool) return false;
  if (kind === "permission") return sameJson(input, call.input);
  const questions = [call.input, ...listOf(call.input.questions)];
  return questions.some((one) => textOf(one.question) === question);
}

/** The same whatever the order of keys; a default that the call adds is no difference. */
function sameJson(asked: unknown, called: unknown): boolean {
  if (Array.isArray(asked) && Array.isArray(called))
    return asked.length === called.length && asked.every((one, at) => sameJson(one, called[at]));
  if (typeof asked !== "object" || asked === null) return asked === called;
  const other = fieldsOf(called);
  return Object.entries(asked).every(([key, value]) => sameJson(value, other[key]));
}
