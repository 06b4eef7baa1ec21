import type { Check, CheckGroup } from "@herdctl/core/internal";
import { formatCount } from "./format-amounts.ts";
import type { TerminalStyle } from "./terminal-style.ts";

export const checkGroupTitles: Record<CheckGroup, string> = {
  machine: "This machine",
  claude: "Claude Code and its sign-in",
  fleet: "The fleet",
  agents: "Agents",
  docker: "Containers",
};

/** The last line of the report. */
export function doctorSummary(
  checks: readonly Check[],
  { colors }: Pick<TerminalStyle, "colors">,
): string {
  const countVerdicts = (verdict: Check["verdict"]) =>
    checks.filter((check) => check.verdict === verdict).length;
  const [problems, warnings] = [countVerdicts("failed"), countVerdicts("warning")];
  const fixed = checks.filter((check) => check.fixed).length;
  const parts = [
    problems > 0 ? colors.red(formatCount(problems, "problem")) : "",
    warnings > 0 ? colors.yellow(formatCount(warnings, "warning")) : "",
    fixed > 0 ? colors.green(`${fixed} fixed`) : "",
  ].filter((part) => part !== "");
  const hasFixable = checks.some((check) => check.fix !== undefined);
  const hint = hasFixable ? colors.dim(" · `herdctl doctor --fix` fixes what is safe to fix") : "";
  return parts.length === 0 ? colors.green("No problems found.") : `${parts.join(", ")}${hint}`;
}
