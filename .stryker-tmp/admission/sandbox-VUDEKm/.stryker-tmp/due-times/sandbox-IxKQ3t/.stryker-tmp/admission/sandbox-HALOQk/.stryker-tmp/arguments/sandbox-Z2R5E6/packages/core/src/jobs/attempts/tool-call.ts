import type { ToolCallRequest } from "../../runner/contract/messages.ts";
import type { ToolCallAnswer } from "../../store/model/tool-call.ts";
import type { ApprovalRequests } from "./approval-requests.ts";

/** A tool call of a run to its fleet, with its context. */
export interface ToolCall {
  jobId: string;
  request: ToolCallRequest;
  approvals: ApprovalRequests;
  /** Aborted when the answer is no longer needed. */
  signal: AbortSignal;
  /** Aborted when the run must end. */
  stopping: AbortSignal;
  /** Aborted when this fleet process detaches from the run, which continues. */
  detaching: AbortSignal;
}

/** The same for every repetition of a tool call, in any fleet process. */
export function toolCallKey({ jobId, request }: Pick<ToolCall, "jobId" | "request">): string {
  return `tool_call:${jobId}:${request.request_id}`;
}

export function toolCallRefused(reason: string): ToolCallAnswer {
  return { kind: "refused", reason };
}

export function toolCallDone(text: string): ToolCallAnswer {
  return { kind: "done", text };
}

/**
 * Asks a person for a permission that the agent lacks. Resolves with undefined if it is granted.
 */
export async function requestPermission(
  { request, approvals, signal }: ToolCall,
  why: string,
  details: Record<string, unknown> = {},
): Promise<ToolCallAnswer | undefined> {
  const tool = `mcp__herd__${request.kind}`;
  const input = { ...request.input, ...details, why };
  const permissionRequest = { toolUseId: request.request_id, tool, input, description: why };
  const answer = await approvals.answer(permissionRequest, signal);
  signal.throwIfAborted();
  return answer.behavior === "allow" ? undefined : toolCallRefused(`${why} ${answer.message}`);
}
