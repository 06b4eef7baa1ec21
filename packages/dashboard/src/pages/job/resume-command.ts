import type { SessionView } from "@herdctl/server/contract";

/** What a person types to go on with a session: Claude Code finds it from its own folder only. */
export function resumeCommand({
  session_id,
  cwd,
}: Pick<SessionView, "session_id" | "cwd">): string {
  return `cd ${quoted(cwd)} && claude --resume ${session_id}`;
}

function quoted(path: string): string {
  return /^[\w./@:+-]+$/.test(path) ? path : `'${path.replaceAll("'", `'\\''`)}'`;
}
