import type { FleetControl } from "@herdctl/protocol";
import { waitForJob } from "../jobs/attempts/wait-for-job.ts";
import type { FleetProblems } from "../lib/fleet-problems.ts";
import type { Actor } from "../store/model/identity.ts";
import { ChatManager } from "../triggers/chat/chat-manager.ts";
import type { ChatPlatforms } from "../triggers/chat/connector.ts";
import type { FleetServices } from "./services.ts";
import { streamJobOutput } from "./views/job-output.ts";

export interface OpenChatOptions {
  platforms: ChatPlatforms;
  problems: FleetProblems;
  /** URL of the fleet's HTTP server; null while it is not listening. */
  url(): string | null;
  asActor(actor: Actor): Pick<FleetControl, "trigger" | "cancel" | "answer">;
}

/** Creates the chat manager of a fleet. */
export function openChat(
  { state, hub, fleet, environment, cluster, idleRunners, reportError }: FleetServices,
  { platforms, problems, url, asActor }: OpenChatOptions,
): ChatManager {
  const chatManager = new ChatManager({
    platforms,
    state,
    trigger: (request, by) => asActor(by).trigger(request),
    fleet,
    dashboardUrl: url,
    environment,
    waitForJob: (jobId, signal) => waitForJob({ state, hub }, jobId, signal),
    cancelJob: (jobId, by) => asActor(by).cancel(jobId),
    releaseSession: (sessionId) => idleRunners.end(sessionId),
    output: (jobId, follow) => streamJobOutput({ state, hub, cluster }, jobId, { follow }),
    answerApproval: (id, decision, by) => asActor(by).answer(id, decision),
    reportError,
    onProblem: (message) => problems.set("chat", message),
  });
  hub.on("approval:requested", ({ approval }) => chatManager.showApproval(approval));
  hub.on("approval:answered", ({ approval }) => chatManager.showApproval(approval));
  hub.on("job:waiting", ({ job }) => chatManager.showWaiting(job));
  return chatManager;
}
