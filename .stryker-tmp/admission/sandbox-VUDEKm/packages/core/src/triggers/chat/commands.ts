/** Commands that people can send in a chat. */
export const chatCommands = {
  help: { summary: "List the commands" },
  reset: { summary: "Start this conversation over" },
  status: { summary: "Show what the agent is doing" },
  stop: { summary: "Stop the current job of this conversation" },
  jobs: { summary: "List the last jobs" },
  resume: { summary: "Continue in the session of a job", argument: "job" },
  run: { summary: "Run a schedule of the agent", argument: "schedule" },
  cost: { summary: "Show today's cost of the agent" },
} as const satisfies Record<string, { summary: string; argument?: string }>;

export type ChatCommand = keyof typeof chatCommands;

/** A message that is a command: `/reset`, or `!reset` where the platform reserves `/`. */
export function parseCommand(text: string): { name: ChatCommand; argument: string } | undefined {
  const found = /^[/!]([a-z]+)(?:\s+(.*))?$/s.exec(text.trim());
  const name = found?.[1] ?? "";
  return isCommand(name) ? { name, argument: (found?.[2] ?? "").trim() } : undefined;
}

export function isCommand(name: string): name is ChatCommand {
  return Object.hasOwn(chatCommands, name);
}
