import { ChatDesk } from "../chat/chat-desk.ts";
import type { ChatPlatforms } from "../chat/connector.ts";
import type { Admission, TriggerRequest } from "../queue/admit.ts";
import { cancelJob } from "./cancel-job.ts";
import { jobOutput } from "./job-output.ts";
import type { FleetParts } from "./parts.ts";
import type { Problems } from "./problems.ts";
import { waitForJob } from "./wait-for-job.ts";

export interface ChatFrame {
  platforms: ChatPlatforms;
  problems: Problems;
  /** Of the fleet's port; null while nothing listens there. */
  url(): string | null;
  trigger(request: TriggerRequest): Promise<Admission>;
}

/** The desk of a fleet's chats, with what it may ask of the fleet. */
export function openChat(
  parts: FleetParts,
  { platforms, problems, url, trigger }: ChatFrame,
): ChatDesk {
  const { state, context, board } = parts;
  const { hub } = context;
  const desk = new ChatDesk({
    platforms,
    state,
    trigger,
    fleet: () => context.fleet(),
    url,
    environment: () => context.environment(),
    wait: (jobId, signal) => waitForJob({ state, hub }, jobId, signal),
    cancel: (jobId) => cancelJob(parts, jobId, false),
    leaveSession: (sessionId) => context.waiting.end(sessionId),
    output: (jobId, follow) => jobOutput({ state, hub, site: context.site }, jobId, { follow }),
    answer: (id, word, by) => board.answer(id, word, by),
    trouble: (message, cause) => context.trouble(message, cause),
    problem: (message) => problems.set("chat", message),
  });
  hub.on("approval:asked", ({ approval }) => desk.asked(approval));
  hub.on("approval:answered", ({ approval }) => desk.asked(approval));
  hub.on("job:waiting", ({ job }) => desk.waits(job));
  return desk;
}
