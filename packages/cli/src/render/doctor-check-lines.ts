import type { Check } from "@herdctl/core/internal";
import { sanitizeText } from "./sanitize-text.ts";
import type { TerminalStyle } from "./terminal-style.ts";
import { wrapLine } from "./text-width.ts";

type DisplayedCheck = Omit<Check, "group">;

/** `✓ coder · network  MESSAGE`, and for a problem its place and hint below. */
export function checkLines(check: DisplayedCheck, { colors, width }: TerminalStyle): string[] {
  const marks: Record<Check["verdict"], string> = {
    ok: colors.green("✓"),
    warning: colors.yellow("!"),
    failed: colors.red("✗"),
    unknown: colors.dim("–"),
  };
  const title = check.agent === undefined ? check.name : `${check.agent} · ${check.name}`;
  const hasNoFinding = check.verdict === "ok" || check.verdict === "unknown";
  const place = hasNoFinding || check.place === undefined ? [] : [colors.cyan(check.place)];
  const hint = check.hint === undefined ? [] : [`→ ${check.hint}`];
  const [first = "", ...rest] = wrapToWidth(`${title}  ${sanitizeText(check.message)}`, width);
  return [
    `${marks[check.verdict]} ${colors.bold(first.slice(0, title.length))}${first.slice(title.length)}`,
    ...rest.map((line) => `  ${line}`),
    ...place.map((line) => `  ${line}`),
    ...hint
      .flatMap((text) => wrapToWidth(sanitizeText(text), width))
      .map((line) => `  ${colors.dim(line)}`),
  ];
}

const indentColumns = 2;
const minWidthColumns = 40;

/** Wraps text for a terminal; text for a file is not wrapped. */
function wrapToWidth(text: string, width: number | undefined): string[] {
  return width === undefined
    ? [text]
    : wrapLine(text, Math.max(width - indentColumns, minWidthColumns));
}
