import { formatElapsed } from "./format-amounts.ts";
import type { TerminalStyle } from "./terminal-style.ts";
import { truncate } from "./text-width.ts";

const frames = [..."⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"];
export const frameIntervalMs = 100;

/** `⠹ 12 s  Bash npm test`. */
export function spinnerLine(
  elapsedMs: number,
  activity: string,
  { colors, width = 80 }: TerminalStyle,
) {
  const frame = frames[Math.floor(elapsedMs / frameIntervalMs) % frames.length] ?? "";
  const elapsed = formatElapsed(elapsedMs);
  const room = Math.max(width - elapsed.length - 6, 8);
  return `${colors.cyan(frame)} ${elapsed}  ${colors.dim(truncate(activity, room))}`;
}
