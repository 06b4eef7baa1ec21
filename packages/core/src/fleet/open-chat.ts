import type { Admission, ApprovalsApi, JobsApi } from "@herdctl/protocol";
import type { JobRequest } from "../jobs/admission/admit.ts";
import { waitForJob } from "../jobs/attempts/wait-for-job.ts";
import type { FleetProblems } from "../lib/fleet-problems.ts";
import type { Actor } from "../store/model/identity.ts";
import { ChatManager } from "../triggers/chat/chat-manager.ts";
import type { ChatPlatforms } from "../triggers/chat/connector.ts";
import type { FleetServices } from "./services.ts";
import { streamJobOutput } from "./views/job-output.ts";

interface OpenChatOptions {
  platforms: ChatPlatforms;
  problems: FleetProblems;
  /** URL of the fleet's HTTP server; null while it is not listening. */
  url(): string | null;
  asActor(actor: Actor): FleetOperations;
}

/** What chats do in the name of a person. */
export interface FleetOperations {
  readonly jobs: Pick<JobsApi, "cancel"> & { admit(request: JobRequest): Promise<Admission> };
  readonly approvals: Pick<ApprovalsApi, "answer">;
}

export function openChat(
  { state, hub, fleet, environment, cluster, idleRunners, reportError }: FleetServices,
  { platforms, problems, url, asActor }: OpenChatOptions,
): ChatManager {
  const chatManager = new ChatManager({
    platforms,
    state,
    trigger: (request, by) => asActor(by).jobs.admit(request),
    fleet,
    dashboardUrl: url,
    environment,
    waitForJob: (jobId, signal) => waitForJob({ state, hub }, jobId, signal),
    cancelJob: (jobId, by) => asActor(by).jobs.cancel(jobId),
    releaseSession: (sessionId) => idleRunners.end(sessionId),
    output: (jobId, signal) =>
      streamJobOutput({ state, hub, cluster }, jobId, { follow: true, signal }),
    answerApproval: (id, decision, by) => asActor(by).approvals.answer(id, decision),
    reportError,
    onProblem: (message) => problems.set("chat", message),
  });
  hub.on("approval:requested", ({ approval }) => chatManager.showApproval(approval));
  hub.on("approval:answered", ({ approval }) => chatManager.showApproval(approval));
  hub.on("job:waiting", ({ job }) => chatManager.showWaiting(job));
  return chatManager;
}
