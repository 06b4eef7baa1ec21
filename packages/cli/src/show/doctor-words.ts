import type { Check, CheckGroup } from "@herdctl/core";
import { countText } from "./amounts.ts";
import type { Look } from "./look.ts";

export const groupTitles: Record<CheckGroup, string> = {
  machine: "This machine",
  claude: "Claude Code and its sign-in",
  fleet: "The fleet",
  agents: "Agents",
  docker: "Containers",
};

/** The last line: whether anything is to be done. */
export function doctorVerdict(checks: readonly Check[], { colors }: Pick<Look, "colors">): string {
  const numberOf = (verdict: Check["verdict"]) =>
    checks.filter((check) => check.verdict === verdict).length;
  const [problems, warnings] = [numberOf("failed"), numberOf("warning")];
  const fixed = checks.filter((check) => check.fixed).length;
  const parts = [
    problems > 0 ? colors.red(countText(problems, "problem")) : "",
    warnings > 0 ? colors.yellow(countText(warnings, "warning")) : "",
    fixed > 0 ? colors.green(`${fixed} fixed`) : "",
  ].filter((part) => part !== "");
  const mendable = checks.some((check) => check.fix !== undefined);
  const hint = mendable ? colors.dim(" · `herdctl doctor --fix` mends what is safe to mend") : "";
  return parts.length === 0 ? colors.green("All is well.") : `${parts.join(", ")}${hint}`;
}
