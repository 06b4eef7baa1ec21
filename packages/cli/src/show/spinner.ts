import { elapsedText } from "./amounts.ts";
import type { Look } from "./look.ts";
import { cut } from "./width.ts";

const frames = [..."⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"];
export const frameTime = 100;

/** `⠹ 12 s  Bash npm test`. */
export function spinnerLine(milliseconds: number, doing: string, { colors, width = 80 }: Look) {
  const frame = frames[Math.floor(milliseconds / frameTime) % frames.length] ?? "";
  const elapsed = elapsedText(milliseconds);
  const room = Math.max(width - elapsed.length - 6, 8);
  return `${colors.cyan(frame)} ${elapsed}  ${colors.dim(cut(doing, room))}`;
}
