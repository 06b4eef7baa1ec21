import type { ChatPlatform } from "@herdctl/core";
import { checkSlack } from "./check-slack.ts";
import { SlackConnector } from "./slack-connector.ts";

/** The Slack integration. */
export const slack: ChatPlatform = {
  createConnector: (options) => new SlackConnector(options),
  check: checkSlack,
};
