import type { Check } from "@herdctl/core";
import { harmless } from "./harmless.ts";
import type { Look } from "./look.ts";
import { wrap } from "./width.ts";

type Shown = Omit<Check, "group">;

/** `✓ coder · network  Nothing gets out: …`, and below it where that stands and what to do. */
export function checkLines(check: Shown, { colors, width }: Look): string[] {
  const marks: Record<Check["verdict"], string> = {
    ok: colors.green("✓"),
    warning: colors.yellow("!"),
    failed: colors.red("✗"),
    unknown: colors.dim("–"),
  };
  const what = check.agent === undefined ? check.name : `${check.agent} · ${check.name}`;
  const isWell = check.verdict === "ok" || check.verdict === "unknown";
  const place = isWell || check.place === undefined ? [] : [colors.cyan(check.place)];
  const hint = check.hint === undefined ? [] : [`→ ${check.hint}`];
  const [first = "", ...rest] = broken(`${what}  ${harmless(check.message)}`, width);
  return [
    `${marks[check.verdict]} ${colors.bold(first.slice(0, what.length))}${first.slice(what.length)}`,
    ...rest.map((line) => `  ${line}`),
    ...place.map((line) => `  ${line}`),
    ...hint.flatMap((text) => broken(harmless(text), width)).map((line) => `  ${colors.dim(line)}`),
  ];
}

const indent = 2;
const narrowest = 40;

/** Lines of a file are as long as they are; those of a screen end between words. */
function broken(text: string, width: number | undefined): string[] {
  return width === undefined ? [text] : wrap(text, Math.max(width - indent, narrowest));
}
