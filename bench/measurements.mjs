import { browserEvents } from "./browser-events.mjs";
import { chatTurn } from "./chat-turn.mjs";
import { dockerJob } from "./docker-job.mjs";
import { hostJobs, preStartedJob } from "./host-jobs.mjs";
import { jobList } from "./job-list.mjs";
import { largeFleet } from "./large-fleet.mjs";
import { messages } from "./messages.mjs";
import { webhooks } from "./webhooks.mjs";

/** All measurements by the name that the command takes, in the order of the table. */
export const measurements = {
  "host-jobs": hostJobs,
  "pre-started": preStartedJob,
  "chat-turn": chatTurn,
  "docker-job": dockerJob,
  "job-list": jobList,
  "large-fleet": largeFleet,
  webhooks,
  messages,
  "browser-events": browserEvents,
};
