import type { ChatPlatforms } from "@herdctl/core";

/** A platform's library is loaded when some agent is there, and not before. */
export const chatPlatforms: ChatPlatforms = {
  discord: async () => (await import("@herdctl/discord")).discord,
  slack: async () => (await import("@herdctl/slack")).slack,
};
