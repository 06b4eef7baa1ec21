/** What the first run of a process would otherwise pay for. */
export async function warmUp(): Promise<void> {
  // Whoever lacks the SDK hears of it when an agent needs it.
  await import("@anthropic-ai/claude-agent-sdk").catch(() => undefined);
}
