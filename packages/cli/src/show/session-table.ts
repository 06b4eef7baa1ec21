import type { SessionView } from "@herdctl/core";
import { shortPath } from "@herdctl/core/light";
import { ageText, costText } from "./amounts.ts";
import { harmlessAll } from "./harmless.ts";
import type { Look } from "./look.ts";
import { type Column, tableLines } from "./table.ts";

export function sessionTable(
  sessions: SessionView[],
  { now, cwd }: { now: Date; cwd: string },
  look: Look,
): string[] {
  const { green, yellow } = look.colors;
  const columns: Column<SessionView>[] = [
    { title: "SESSION", text: (session) => session.session_id },
    { title: "AGENT", text: (session) => session.agent },
    { title: "PLACE", text: (session) => session.place },
    { title: "USED", align: "right", text: (session) => ageText(session.last_used_at, now) },
    { title: "TURNS", spare: true, align: "right", text: (session) => String(session.turns) },
    {
      title: "COST",
      spare: true,
      align: "right",
      text: (session) => costText(session.cost_total_usd),
    },
    {
      title: "RESUME",
      text: resumeWord,
      paint: (session) => (resumeWord(session) === "yes" ? green : yellow),
    },
    { title: "FOLDER", text: (session) => shortPath(session.cwd, cwd) },
  ];
  return tableLines(columns, harmlessAll(sessions), look);
}

/** An expired session is not gone: the agent begins a new one by itself, a person may go on with it. */
function resumeWord({ obstacle, expired }: SessionView): string {
  if (obstacle !== null) return obstacle.short;
  return expired ? "expired" : "yes";
}
