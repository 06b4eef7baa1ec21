import {
  idempotencyKeyPattern,
  type TriggerRequest,
  type TriggerType,
  UserError,
} from "@herdctl/protocol";

/** A trigger as it reaches admission: the fleet has decided its type, callers cannot. */
export interface JobRequest extends Omit<TriggerRequest, "conversation"> {
  trigger: TriggerType;
  /** An ID that was reserved for the job; without it, a new one. */
  jobId?: string;
}

/** A person or program asks for the job. */
export function toJobRequest({ conversation, ...request }: TriggerRequest): JobRequest {
  const { key } = request;
  if (key !== undefined && !idempotencyKeyPattern.test(key)) {
    throw new UserError("usage", "the key cannot be used", {
      hint: "Use 1 to 500 characters, without control characters.",
    });
  }
  return { ...pickRequest(request), trigger: conversation ? "chat" : "manual" };
}

/** Ignores fields that the type does not have, which a JavaScript caller could pass. */
function pickRequest(request: Omit<TriggerRequest, "conversation">) {
  const { agent, prompt, schedule, key, resume, fork, forkPoint, expand, stream } = request;
  return { agent, prompt, schedule, key, resume, fork, forkPoint, expand, stream };
}
