/**
 * The shell command that resumes a session. herdctl finds the folder, the account and the `claude`
 * that the agent used, which need not be on the user's path.
 */
export function formatResumeCommand(sessionId: string, fleetFile: string): string {
  return `herdctl sessions resume ${sessionId} --config ${shellQuote(fleetFile)}`;
}

function shellQuote(path: string): string {
  return /^[\w./@:+-]+$/.test(path) ? path : `'${path.replaceAll("'", `'\\''`)}'`;
}
