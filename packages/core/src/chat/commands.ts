/** What people can tell an agent in a chat beside what they want of it. */
export const chatCommands = {
  help: { summary: "What can be said here" },
  reset: { summary: "Begin this conversation anew" },
  status: { summary: "What the agent is at" },
  stop: { summary: "Stop what it works on here" },
  jobs: { summary: "Its last jobs" },
  resume: { summary: "Go on in the session of a job", argument: "job" },
  run: { summary: "Run one of its schedules", argument: "schedule" },
  cost: { summary: "What it has cost today" },
} as const satisfies Record<string, { summary: string; argument?: string }>;

export type ChatCommand = keyof typeof chatCommands;

/** A message that is a command: `/reset`, or `!reset` where the platform keeps `/` for itself. */
export function commandOf(text: string): { name: ChatCommand; argument: string } | undefined {
  const found = /^[/!]([a-z]+)(?:\s+(.*))?$/s.exec(text.trim());
  const name = found?.[1] ?? "";
  return isCommand(name) ? { name, argument: (found?.[2] ?? "").trim() } : undefined;
}

export function isCommand(name: string): name is ChatCommand {
  return Object.hasOwn(chatCommands, name);
}
