import type { Script } from "@herdctl/rehearsal";

export const model = "claude-opus-5-5";
/** $0.08 of input and $0.02 of output. */
export const callUsd = 0.1;
const usage = { input_tokens: 20_000, output_tokens: 1_000 };

const message = JSON.stringify({
  model,
  max_tokens: 1_000,
  messages: [{ role: "user", content: "direct call" }],
});

/** Claude Code keeps these variables from its tools, which read them where they are. */
const takeKey =
  "for v in $(tr '\\0' '\\n' </proc/$PPID/environ | grep ^ANTHROPIC_); do export \"$v\"; done";

/** A command by which a tool calls the API directly. */
export function directCalls(count: number): string {
  const curl = [
    "curl -s",
    '${ANTHROPIC_UNIX_SOCKET:+--unix-socket "$ANTHROPIC_UNIX_SOCKET"}',
    '"$ANTHROPIC_BASE_URL/v1/messages"',
    '-H "x-api-key: $ANTHROPIC_API_KEY"',
    `-d '${message}'`,
  ].join(" ");
  return `${takeKey}; for n in $(seq ${count}); do ${curl}; echo; done`;
}

/** A model whose tool runs this command, then says that it is done. */
export function scriptFor(command: string): Script {
  return {
    rules: [
      { match: { prompt: "direct call" }, reply: { text: "Called.", usage } },
      {
        match: { prompt: "spend" },
        replies: [
          {
            tools: [{ name: "Bash", input: { command } }],
            usage: { input_tokens: 100, output_tokens: 10 },
          },
          { text: "Done.", usage: { input_tokens: 100, output_tokens: 10 } },
        ],
      },
    ],
  };
}
