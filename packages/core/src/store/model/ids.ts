import { createHash, randomBytes } from "node:crypto";
import { UserError } from "@herdctl/protocol";

export function newJobId(now: Date): string {
  return `job-${now.toISOString().slice(0, 10)}-${randomName()}`;
}

export function newDeliveryId(now: Date): string {
  return `delivery-${now.toISOString().slice(0, 10)}-${randomName()}`;
}

export function newApprovalId(): string {
  return `approval-${randomName()}`;
}

export function newRuleId(): string {
  return `rule-${randomName()}`;
}

/** Receivers identify a hook by this id over all its attempts. */
export function newHookId(): string {
  return `hook-${randomName()}`;
}

export function newClaimId(): string {
  return `claim-${randomName()}`;
}

export function newConversationId(): string {
  return `conversation-${randomName()}`;
}

export function newMessageId(now: Date): string {
  return `message-${now.toISOString().slice(0, 10)}-${randomName()}`;
}

/** The same for the same part of the same answer, and short enough for all platforms. */
export function postNonce(message: string, subject: string): string {
  return createHash("sha256")
    .update(JSON.stringify([message, subject]))
    .digest("hex")
    .slice(0, 24);
}

/** A job's id names its folder, so it must not lead out of the folder of jobs. */
export function checkJobId(id: string): string {
  // defence: job-id-name
  if (/^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/.test(id)) return id;
  throw new UserError("job_not_found", `${JSON.stringify(id)} cannot be the id of a job`);
}

/** 50 bits in letters and digits that are hard to confuse. */
function randomName(): string {
  return Array.from(randomBytes(10), (byte) => idAlphabet[byte % idAlphabet.length]).join("");
}

const idAlphabet = "0123456789abcdefghjkmnpqrstvwxyz";
