import type { Approval } from "@herdctl/server/contract";
import type { ToolEntry } from "./entry.ts";
import { toFields, toFieldsList, toText } from "./unknown-fields.ts";

export interface MatchedApprovals {
  /** By the key of their tool call. */
  byTool: Map<string, Approval[]>;
  /** The tool call is not in the log, or not yet. */
  unmatched: Approval[];
}

/**
 * Matches approvals to tool calls. An approval records the tool and its input, but not the call id,
 * so identical requests are matched in order.
 */
export function matchApprovals(
  approvals: readonly Approval[],
  tools: Iterable<ToolEntry>,
): MatchedApprovals {
  const matched: MatchedApprovals = { byTool: new Map(), unmatched: [] };
  if (approvals.length === 0) return matched;
  const calls = [...tools];
  const matchedKeys = new Set<string>();
  for (const approval of approvals) {
    const found = calls.find((call) => !matchedKeys.has(call.key) && isApprovalFor(approval, call));
    if (!found) {
      matched.unmatched.push(approval);
      continue;
    }
    // A call may ask several questions, but requests permission only once.
    if (approval.kind === "permission") matchedKeys.add(found.key);
    matched.byTool.set(found.key, [...(matched.byTool.get(found.key) ?? []), approval]);
  }
  return matched;
}

function isApprovalFor({ kind, tool, input, question }: Approval, call: ToolEntry): boolean {
  if (tool !== call.tool) return false;
  if (kind === "permission") return isSameJson(input, call.input);
  const questions = [call.input, ...toFieldsList(call.input.questions)];
  return questions.some((candidate) => toText(candidate.question) === question);
}

/** Ignores key order, and keys that only `actual` has. */
function isSameJson(expected: unknown, actual: unknown): boolean {
  if (Array.isArray(expected) && Array.isArray(actual))
    return (
      expected.length === actual.length &&
      expected.every((item, index) => isSameJson(item, actual[index]))
    );
  if (typeof expected !== "object" || expected === null) return expected === actual;
  const actualFields = toFields(actual);
  return Object.entries(expected).every(([key, value]) => isSameJson(value, actualFields[key]));
}
