import type { SDKMessage } from "@anthropic-ai/claude-agent-sdk";
import type { Environment } from "../config/environment.ts";
import type { Fleet } from "../config/load.ts";
import type { Admission, TriggerRequest } from "../queue/admit.ts";
import type { Approval, Word } from "../state/approval.ts";
import type { Actor } from "../state/identity.ts";
import type { Job } from "../state/job.ts";
import type { StateManager } from "../state/state-manager.ts";
import type { ChatPlatforms } from "./connector.ts";

/** What chats need of the fleet that they speak for. */
export interface ChatFleet {
  readonly platforms: ChatPlatforms;
  readonly state: StateManager;
  fleet(): Fleet;
  /** Of the dashboard; null where none is served. */
  url(): string | null;
  environment(): Environment;
  trigger(request: TriggerRequest, by: Actor): Promise<Admission>;
  wait(jobId: string, signal: AbortSignal): Promise<Job>;
  cancel(jobId: string, by: Actor): Promise<Job>;
  /** Nobody goes on in it any more: what is up for it may go. */
  leaveSession(sessionId: string): void;
  output(jobId: string, follow: AbortSignal): AsyncIterable<{ message: SDKMessage }>;
  answer(approvalId: string, word: Word, by: Actor): Promise<Approval>;
  trouble(message: string, cause?: unknown): void;
  /** What is wrong with the chats; undefined when nothing is. */
  problem(message: string | undefined): void;
}
