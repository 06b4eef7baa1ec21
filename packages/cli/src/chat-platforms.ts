import type { ChatPlatforms } from "@herdctl/core";

/** Loads the library of a platform only when an agent uses it. */
export const chatPlatforms: ChatPlatforms = {
  discord: async () => (await import("@herdctl/discord")).discord,
  slack: async () => (await import("@herdctl/slack")).slack,
};
