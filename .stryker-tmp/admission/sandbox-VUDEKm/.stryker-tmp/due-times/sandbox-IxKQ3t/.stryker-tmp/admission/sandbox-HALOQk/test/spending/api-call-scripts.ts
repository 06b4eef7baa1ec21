import type { Script } from "@herdctl/rehearsal";

export const model = "claude-opus-5-5";
/** $0.08 of input and $0.02 of output. */
export const costPerCallUsd = 0.1;
const usage = { input_tokens: 20_000, output_tokens: 1_000 };

const message = JSON.stringify({
  model,
  max_tokens: 1_000,
  messages: [{ role: "user", content: "direct call" }],
});

/** Claude Code hides these variables from its tools, which can read them from its process. */
const readKeyCommand =
  "for v in $(tr '\\0' '\\n' </proc/$PPID/environ | grep ^ANTHROPIC_); do export \"$v\"; done";

/** A command with which a tool calls the API directly. */
export function directCalls(count: number): string {
  const curl = [
    "curl -s",
    // Two words in zsh as well, which does not split expansions.
    '${ANTHROPIC_UNIX_SOCKET:+--unix-socket} ${ANTHROPIC_UNIX_SOCKET:+"$ANTHROPIC_UNIX_SOCKET"}',
    '"$ANTHROPIC_BASE_URL/v1/messages"',
    '-H "x-api-key: $ANTHROPIC_API_KEY"',
    `-d '${message}'`,
  ].join(" ");
  return `${readKeyCommand}; for n in $(seq ${count}); do ${curl}; echo; done`;
}

interface ToolUse {
  name: string;
  input: Record<string, unknown>;
}

export function bashTool(command: string): ToolUse {
  return { name: "Bash", input: { command } };
}

/** A model whose tool runs this command and then reports the end. */
export function scriptForCommand(command: string): Script {
  return scriptForTools({ spend: [bashTool(command)] });
}

/** The tools for each prompt, used in order. */
export function scriptForTools(tools: Record<string, ToolUse[]>): Script {
  const smallUsage = { input_tokens: 100, output_tokens: 10 };
  const rules = Object.entries(tools).map(([prompt, uses]) => ({
    match: { prompt },
    replies: [
      ...uses.map((use) => ({ tools: [use], usage: smallUsage })),
      { text: "Done.", usage: smallUsage },
    ],
  }));
  return {
    rules: [{ match: { prompt: "direct call" }, reply: { text: "Called.", usage } }, ...rules],
  };
}
