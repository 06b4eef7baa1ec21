import type { ChatPlatform } from "@herdctl/core";
import { examineSlack } from "./examine.ts";
import { SlackConnector } from "./slack-connector.ts";

/** Slack, as herdctl's chats need it. */
export const slack: ChatPlatform = {
  open: (link) => new SlackConnector(link),
  examine: examineSlack,
};
