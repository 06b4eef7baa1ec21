import { ChatDesk } from "../chat/chat-desk.ts";
import type { ChatPlatforms } from "../chat/connector.ts";
import type { Actor } from "../state/identity.ts";
import type { FleetControl } from "./control.ts";
import { jobOutput } from "./job-output.ts";
import type { FleetParts } from "./parts.ts";
import type { Problems } from "./problems.ts";
import { waitForJob } from "./wait-for-job.ts";

export interface ChatFrame {
  platforms: ChatPlatforms;
  problems: Problems;
  /** Of the fleet's port; null while nothing listens there. */
  url(): string | null;
  actAs(actor: Actor): Pick<FleetControl, "trigger" | "cancel" | "answer">;
}

/** The desk of a fleet's chats, with what it may ask of the fleet. */
export function openChat(
  parts: FleetParts,
  { platforms, problems, url, actAs }: ChatFrame,
): ChatDesk {
  const { state, context } = parts;
  const { hub } = context;
  const desk = new ChatDesk({
    platforms,
    state,
    trigger: (request, by) => actAs(by).trigger(request),
    fleet: () => context.fleet(),
    url,
    environment: () => context.environment(),
    wait: (jobId, signal) => waitForJob({ state, hub }, jobId, signal),
    cancel: (jobId, by) => actAs(by).cancel(jobId),
    leaveSession: (sessionId) => context.waiting.end(sessionId),
    output: (jobId, follow) => jobOutput({ state, hub, site: context.site }, jobId, { follow }),
    answer: (id, word, by) => actAs(by).answer(id, word),
    trouble: (message, cause) => context.trouble(message, cause),
    problem: (message) => problems.set("chat", message),
  });
  hub.on("approval:asked", ({ approval }) => desk.asked(approval));
  hub.on("approval:answered", ({ approval }) => desk.asked(approval));
  hub.on("job:waiting", ({ job }) => desk.waits(job));
  return desk;
}
