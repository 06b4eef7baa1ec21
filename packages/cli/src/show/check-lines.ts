import type { Check } from "@herdctl/core";
import { harmless } from "./harmless.ts";
import type { Look } from "./look.ts";

/** `✓ coder · network  Nothing gets out: …`, and below it what to do. */
export function checkLines(check: Check, colors: Look["colors"]): string[] {
  const marks = { ok: colors.green("✓"), warning: colors.yellow("!"), failed: colors.red("✗") };
  const what = check.agent === undefined ? check.name : `${check.agent} · ${check.name}`;
  const line = `${marks[check.verdict]} ${colors.bold(what)}  ${harmless(check.message)}`;
  return check.hint === undefined ? [line] : [line, `  ${colors.dim(check.hint)}`];
}
