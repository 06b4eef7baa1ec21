import { type Logger, LogLevel } from "@slack/web-api";

/** Slack's libraries would print; what matters comes as errors and events. */
export const silentLogger: Logger = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
  setLevel: () => undefined,
  getLevel: () => LogLevel.ERROR,
  setName: () => undefined,
};
