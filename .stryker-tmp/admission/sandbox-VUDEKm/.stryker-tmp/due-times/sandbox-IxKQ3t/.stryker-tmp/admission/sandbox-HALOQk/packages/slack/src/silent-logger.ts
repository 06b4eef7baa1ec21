import { type Logger, LogLevel } from "@slack/web-api";

/** Keeps Slack's libraries from printing. Problems are reported as errors and events. */
export const silentLogger: Logger = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
  setLevel: () => undefined,
  getLevel: () => LogLevel.ERROR,
  setName: () => undefined,
};
