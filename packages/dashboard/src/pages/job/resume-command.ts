import type { SessionView } from "@herdctl/server/contract";

/** The shell command that resumes a session. Claude Code finds sessions only from their folder. */
export function formatResumeCommand({
  session_id,
  cwd,
}: Pick<SessionView, "session_id" | "cwd">): string {
  return `cd ${shellQuote(cwd)} && claude --resume ${session_id}`;
}

function shellQuote(path: string): string {
  return /^[\w./@:+-]+$/.test(path) ? path : `'${path.replaceAll("'", `'\\''`)}'`;
}
