import type { Defence } from "../defence.ts";

const signaturesTest = "test/webhooks/signatures.test.ts";

export const payloadDefences: readonly Defence[] = [
  {
    name: "weak webhook secrets are refused in the configuration",
    protects: "a secret that can be guessed",
    mark: "strong-webhook-secret",
    without: "return [];",
    failingTest: {
      file: "test/config/webhook-secrets.test.ts",
      test: "refuses a weak secret for token",
    },
  },
  {
    name: "wrong webhook signatures are limited",
    protects: "an attacker who guesses the secret of a webhook",
    mark: "signature-failure-limit",
    without: "",
    failingTest: {
      file: "test/webhooks/invalid-requests.test.ts",
      test: "limits wrong signatures to 30 a minute and still accepts a right one",
    },
  },
  {
    name: "a prompt is sent verbatim",
    protects: "files of the host, against `@path` in untrusted text",
    mark: "verbatim-prompt",
    without: "if ($expression || $6 !== undefined) $thenStatement",
    failingTest: {
      file: "test/runtimes/prompt-and-settings-conformance.test.ts",
      test: "sends a prompt that names a file or a command to the model as written",
    },
  },
  {
    name: "older versions of Claude Code expand only our own text block",
    protects: "files of the host, against `@path` in untrusted text",
    mark: "verbatim-text-block",
    without: "$condition || $whenTrue !== undefined ? $whenTrue : $whenFalse",
    failingTest: {
      file: "test/runtimes/prompt-and-settings-conformance.test.ts",
      test: "sends a prompt that names a file or a command to the model as written",
    },
  },
  {
    name: "untrusted text is verbatim, whatever the agent's `prompts` setting",
    protects: "files of the host, against `@path` in a chat message",
    mark: "outside-text-verbatim",
    without: "",
    failingTest: {
      file: "test/fleet/verbatim-prompts.test.ts",
      test: "sends untrusted text to the model as written, whatever its source",
    },
  },
  {
    name: "untrusted texts are fenced",
    protects: "the prompt, against instructions in a payload",
    mark: "fenced-outside-text",
    without: "return $5.slice(0, $7) + $4('', $6) + $3.slice(0, 0);",
    failingTest: {
      file: "test/webhooks/hostile-payload.test.ts",
      test: "fences a title that tells an obedient model to post a secret, and does not run the tool without asking",
    },
  },
  {
    name: "a text cannot contain the mark that ends it",
    protects: "the fence",
    mark: "fence-mark-removed",
    without: "$expression('') + $arguments[0]",
    failingTest: {
      file: "test/webhooks/fenced-prompt.test.ts",
      test: "prevents a text from closing its own marks or inserting variables",
    },
  },
  {
    name: "the token of a fence is random",
    protects: "the fence, against a text that contains its closing tag",
    mark: "random-fence-token",
    node: "PropertyAccessExpression",
    without: "$expression.fill(0).$name",
    failingTest: {
      file: "test/webhooks/fenced-prompt.test.ts",
      test: "gives each prompt a random token that its notice names",
    },
  },
  {
    name: "chat context comes from listed people only",
    protects: "the prompt, against people and bots that the agent ignores",
    mark: "chat-context-senders",
    without: "$expression !== undefined",
    failingTest: {
      file: "test/chat/discord.test.ts",
      test: "answers a mention once, with the earlier messages",
    },
  },
  {
    name: "a run whose settings were dropped is not started",
    protects: "deny rules and hooks, against one wrong value beside them",
    mark: "dropped-settings",
    without: "$left < 0",
    failingTest: {
      file: "test/runtimes/prompt-and-settings-conformance.test.ts",
      test: "does not start a run whose settings Claude Code drops",
    },
  },
  {
    name: "user settings choose no API, credential or proxy",
    protects: "the gateway, against `env` in ~/.claude/settings.json",
    mark: "no-user-api-settings",
    without: "",
    failingTest: {
      file: "test/runner/user-settings.test.ts",
      test: "keeps a run on its gateway despite user settings",
    },
  },
  {
    name: "a session cannot wake itself up",
    protects: "the operator, against turns without a trigger",
    mark: "no-self-wakeup",
    without: "($1 ? $2 : [])",
    failingTest: {
      file: "test/runtimes/prompt-and-settings-conformance.test.ts",
      test: "prevents a session from waking itself up",
    },
  },
  {
    name: "long texts are truncated",
    protects: "the prompt's size, and so its price",
    mark: "long-text-cut",
    without: 'const $1 = $2.$3(0, Math.max($4, $2.length)).$5(/[\\ud800-\\udbff]$/, "");',
    failingTest: {
      file: "test/webhooks/fenced-prompt.test.ts",
      test: "truncates long texts with a note, each and all together",
    },
  },
  {
    name: "a text is not filled in again",
    protects: "values of a gate, against a payload that names them",
    mark: "no-second-template-pass",
    without: "$left >= 0",
    failingTest: {
      file: "test/webhooks/fenced-prompt.test.ts",
      test: "prevents a text from naming a variable that is filled in later without a fence",
    },
  },
  {
    name: "a delivery must be signed",
    protects: "agents, against everyone who knows the address",
    mark: "signature-required",
    without: "",
    failingTest: {
      file: "test/webhooks/invalid-requests.test.ts",
      test: "refuses invalid requests with their status and only counts them",
    },
  },
  {
    name: "a signature is checked against the raw bytes",
    protects: "the body",
    mark: "signature-over-raw-body",
    without: '$0.toString("utf8").trim()',
    failingTest: {
      file: signaturesTest,
      test: "refuses a body that differs in one byte or only has equal text",
    },
  },
  {
    name: "an old signature is refused",
    protects: "agents, against a recorded delivery",
    mark: "signature-age",
    node: "BinaryExpression",
    without: "$left >= 0",
    failingTest: { file: signaturesTest, test: "refuses slack, six minutes old" },
  },
  {
    name: "an empty secret opens nothing",
    protects: "agents, where a variable is not set",
    mark: "no-empty-secret",
    without: "$arguments[0]",
    failingTest: {
      file: "test/webhooks/deliveries.test.ts",
      test: "rotates a secret without a restart, with both valid meanwhile",
    },
  },
  {
    name: "strangers on GitHub trigger nothing",
    protects: "agents, against everyone who may open an issue",
    mark: "actor-check",
    without: "$thenStatement",
    failingTest: {
      file: "test/webhooks/decide-delivery.test.ts",
      test: "widens allowed senders by login, by association and to anyone, and narrows them",
    },
  },
  {
    name: "a stored delivery contains no signature and no token",
    protects: "secrets of senders, in the state",
    mark: "stored-headers",
    without: "return { ...$7 };",
    failingTest: {
      file: "test/webhooks/deliveries.test.ts",
      test: "lists, shows and replays deliveries without their signatures",
    },
  },
  {
    name: "in a chat only listed users are answered",
    protects: "agents, against everyone who got into the room",
    mark: "listed-senders",
    without: "$arguments[1]",
    failingTest: { file: "test/chat/classify-and-reply.test.ts", test: "ignores an unlisted user" },
  },
  {
    name: "bots are ignored in a chat",
    protects: "two bots that answer each other forever",
    mark: "no-bots",
    without: "",
    failingTest: {
      file: "test/chat/classify-and-reply.test.ts",
      test: "ignores a bot, even a listed one",
    },
  },
  {
    name: "output of agents is fenced for programs that read it",
    protects: "an MCP client, against text of an agent",
    mark: "fenced-job-text",
    without: "`${$3}: ${$4.slice(0, $5)}`",
    failingTest: {
      file: "test/mcp/stdio.test.ts",
      test: "shows the fleet to a read-only client and offers no tool that changes anything",
    },
  },
  {
    name: "an agent that used a foreign tool counts as untrusted",
    protects: "other agents, against what a tool brought in",
    mark: "foreign-tool-untrusted",
    without: '!$3.startsWith("mcp__") && $0',
    failingTest: {
      file: "test/agent-tools/delegation-chain.test.ts",
      test: "marks an agent that used a foreign tool, and every agent that received its answer, as untrusted",
    },
  },
  {
    name: "hooks post to public addresses only",
    protects: "services of the machine, against a url in metadata",
    mark: "public-hook-addresses",
    without: "!$2",
    failingTest: {
      file: "test/hooks/http-post.test.ts",
      test: "refuses a private address in any notation",
    },
  },
];
