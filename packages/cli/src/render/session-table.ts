import { type SessionView, shortenPath } from "@herdctl/protocol";
import { formatAge, formatCost } from "./format-amounts.ts";
import { sanitizeDeep, sanitizeText } from "./sanitize-text.ts";
import { type Column, tableLines } from "./table.ts";
import type { TerminalStyle } from "./terminal-style.ts";

export function sessionTableLines(
  sessions: SessionView[],
  { now, cwd, prompts }: { now: Date; cwd: string; prompts: ReadonlyMap<string, string> },
  style: TerminalStyle,
): string[] {
  const { green, yellow } = style.colors;
  const columns: Column<SessionView>[] = [
    { title: "SESSION", text: (session) => session.session_id },
    { title: "AGENT", text: (session) => session.agent },
    { title: "RUNTIME", hideIfNarrow: true, text: (session) => session.session_home },
    { title: "USED", align: "right", text: (session) => formatAge(session.last_used_at, now) },
    {
      title: "TURNS",
      hideIfNarrow: true,
      align: "right",
      text: (session) => String(session.turns),
    },
    {
      title: "COST",
      hideIfNarrow: true,
      align: "right",
      text: (session) => formatCost(session.cost_total_usd),
    },
    {
      title: "RESUME",
      text: resumeText,
      color: (session) => (resumeText(session) === "yes" ? green : yellow),
    },
    {
      title: "FOLDER",
      hideIfNarrow: true,
      text: (session) => shortenPath(session.cwd, cwd),
    },
    {
      title: "LAST PROMPT",
      text: ({ session_id }) =>
        sanitizeText(prompts.get(session_id) ?? "")
          .trim()
          .split("\n")[0] ?? "",
    },
  ];
  return tableLines(columns, sanitizeDeep(sessions), style);
}

/** Jobs do not continue an expired session by themselves, but a person can still resume it. */
function resumeText({ obstacle, expired }: SessionView): string {
  if (obstacle !== null) return obstacle.short;
  return expired ? "expired" : "yes";
}
