import type { Environment, Fleet } from "@herdctl/config";
import type {
  Admission,
  Approval,
  ApprovalDecision,
  ChatPlatformName,
  ClaudeMessage,
  Job,
} from "@herdctl/protocol";
import type { JobRequest } from "../../jobs/admission/admit.ts";
import { type Actor, identities } from "../../store/model/identity.ts";
import type { StateManager } from "../../store/state-manager.ts";
import type { ChatPlatforms } from "./connector.ts";

/** The fleet services that chats need. */
export interface ChatFleetApi {
  readonly platforms: ChatPlatforms;
  readonly state: StateManager;
  fleet(): Fleet;
  /** URL of the dashboard; null if none is served. */
  dashboardUrl(): string | null;
  environment(): Environment;
  trigger(request: JobRequest, by: Actor): Promise<Admission>;
  waitForJob(jobId: string, signal: AbortSignal): Promise<Job>;
  cancelJob(jobId: string, by: Actor): Promise<Job>;
  /** The session is not continued, so its idle runner may end. */
  releaseSession(sessionId: string): void;
  output(jobId: string, follow: AbortSignal): AsyncIterable<{ message: ClaudeMessage }>;
  answerApproval(approvalId: string, decision: ApprovalDecision, by: Actor): Promise<Approval>;
  reportError(message: string, cause?: unknown): void;
  /** Reports a problem of the chats; undefined if there is none. */
  onProblem(message: string | undefined): void;
}

/** The person who wrote or pressed something, by the id that the platform confirms. */
export function chatActor(platform: ChatPlatformName, sender: { id: string; name: string }): Actor {
  return { identity: identities.chat(platform, sender), origin: platform };
}
