import type { Defence } from "../defence.ts";

const userMessage = "packages/core/src/runner/runtime/user-message.ts";
const fence = "packages/core/src/runner/fence.ts";
const signature = "packages/core/src/triggers/webhook/verify-signature.ts";
const signaturesTest = "test/webhooks/signatures.test.ts";

export const payloadDefences: readonly Defence[] = [
  {
    name: "weak webhook secrets are refused when the configuration is read",
    guards: "a secret that can be guessed",
    edit: {
      file: "packages/core/src/config/webhook-secrets.ts",
      from: "if (!secret || isStrongWebhookSecret(kind, secret)) return [];",
      to: "return [];",
    },
    red: { file: "test/config/webhook-secrets.test.ts", test: "a weak secret for token" },
  },
  {
    name: "wrong webhook signatures are limited",
    guards: "someone who guesses the secret of a webhook",
    edit: {
      file: "packages/core/src/triggers/webhook/receive-delivery.ts",
      from: "    desk.notVerified();\n",
      to: "",
    },
    red: { file: "test/webhooks/abuse.test.ts", test: "wrong signatures are limited" },
  },
  {
    name: "a prompt is sent verbatim",
    guards: "files of the host, against `@path` in a text from outside",
    edit: {
      file: userMessage,
      from: "if (expand) return",
      to: "if (expand || prompt !== undefined) return",
    },
    red: {
      file: "test/runtime/prompts.test.ts",
      test: "a prompt that names a file or a command reaches the model as written",
    },
  },
  {
    name: "older versions of Claude Code expand a text block of ours only",
    guards: "files of the host, against `@path` in a text from outside",
    edit: {
      file: userMessage,
      from: "const content = knowsTheField ? prompt",
      to: "const content = knowsTheField || prompt !== undefined ? prompt",
    },
    red: {
      file: "test/runtime/prompts.test.ts",
      test: "a prompt that names a file or a command reaches the model as written",
    },
  },
  {
    name: "text from outside is verbatim, whatever the agent's `prompts` says",
    guards: "files of the host, against `@path` in a chat message",
    edit: {
      file: "packages/core/src/queue/admit.ts",
      from: "if (bringsOutside.has(request.trigger)) return false;",
      to: "",
    },
    red: {
      file: "test/fleet/verbatim-prompts.test.ts",
      test: "text from outside reaches the model as written",
    },
  },
  {
    name: "texts from outside are fenced",
    guards: "the prompt, against orders in a payload",
    edit: {
      file: "packages/core/src/triggers/prompt-template.ts",
      from: "return fence.wrap(path, withoutPlaces(text, later), limit);",
      to: "return text.slice(0, limit) + withoutPlaces('', later) + path.slice(0, 0);",
    },
    red: { file: "test/webhooks/hostile-payload.test.ts", test: "a title that tells an obedient" },
  },
  {
    name: "a text cannot hold the mark that ends it",
    guards: "the fence",
    edit: {
      file: fence,
      from: "${withoutFenceMarks(kept)}",
      to: "${withoutFenceMarks('') + kept}",
    },
    red: {
      file: "test/webhooks/fenced-prompt.test.ts",
      test: "a text cannot close its own marks, nor have anything filled in",
    },
  },
  {
    name: "the token of a fence is random",
    guards: "the fence, against a text that holds its closing tag",
    edit: {
      file: fence,
      from: 'newFence(token = randomBytes(16).toString("hex"))',
      to: 'newFence(token = randomBytes(16).fill(0).toString("hex"))',
    },
    red: {
      file: "test/webhooks/fenced-prompt.test.ts",
      test: "each prompt has a random token, which its notice names",
    },
  },
  {
    name: "chat context comes from listed people only",
    guards: "the prompt, against people and programs that the agent does not listen to",
    edit: {
      file: "packages/core/src/chat/gather-prompt.ts",
      from: "isNew(one) && maySpeak(rules, room, one.sender).heard",
      to: "isNew(one) && maySpeak(rules, room, one.sender) !== undefined",
    },
    red: {
      file: "test/chat/discord.test.ts",
      test: "a mention is answered once, with what was said before",
    },
  },
  {
    name: "a run whose settings were dropped is not begun",
    guards: "deny rules and hooks, against one wrong value beside them",
    edit: {
      file: "packages/core/src/runner/runtime/confirm-settings.ts",
      from: "if (dropped.length > 0) throw rejected(dropped, data);",
      to: "if (dropped.length < 0) throw rejected(dropped, data);",
    },
    red: {
      file: "test/runtime/prompts.test.ts",
      test: "a run whose settings Claude Code drops is not begun",
    },
  },
  {
    name: "settings of the user choose no API, credential or proxy",
    guards: "the gateway, against `env` in ~/.claude/settings.json",
    edit: {
      file: "packages/core/src/runner/environment.ts",
      from: "...(!usesLoginFile && {",
      to: "...(!usesLoginFile && sources.jobId === undefined && {",
    },
    red: {
      file: "test/runner/user-settings.test.ts",
      test: "settings of the user take no run away from its gateway",
    },
  },
  {
    name: "a session cannot wake itself up",
    guards: "the operator, against turns that nobody asked for",
    edit: {
      file: "packages/core/src/runner/runtime/claude-settings.ts",
      from: "...(self_wakeup ? [] : wakeupTools)",
      to: "...(self_wakeup ? wakeupTools : [])",
    },
    red: { file: "test/runtime/prompts.test.ts", test: "a session cannot wake itself up" },
  },
  {
    name: "long texts are cut",
    guards: "the prompt's size, and so its price",
    edit: {
      file: fence,
      from: "const kept = text.slice(0, limit)",
      to: "const kept = text.slice(0, Math.max(limit, text.length))",
    },
    red: { file: "test/webhooks/fenced-prompt.test.ts", test: "long texts are cut and say so" },
  },
  {
    name: "a text is not filled in again",
    guards: "values of a gate, against a payload that names them",
    edit: {
      file: "packages/core/src/triggers/prompt-template.ts",
      from: "if (roots.length === 0) return text;",
      to: "if (roots.length >= 0) return text;",
    },
    red: {
      file: "test/webhooks/fenced-prompt.test.ts",
      test: "a text cannot name a place whose value comes later",
    },
  },
  {
    name: "a delivery must be signed",
    guards: "agents, against whoever knows the address",
    edit: {
      file: signature,
      from: 'if (!fits.includes(true)) return "the signature does not fit";',
      to: "",
    },
    red: { file: "test/webhooks/abuse.test.ts", test: "what does not belong here gets its status" },
  },
  {
    name: "a signature is held against the bytes as they came",
    guards: "the body",
    edit: {
      file: signature,
      from: 'expected: (secret) => hmac("sha256", secret, body),\n  }),',
      to: 'expected: (secret) => hmac("sha256", secret, body.toString("utf8").trim()),\n  }),',
    },
    red: { file: signaturesTest, test: "a body that differs in one byte" },
  },
  {
    name: "an old signature is none",
    guards: "agents, against a recorded delivery",
    edit: { file: signature, from: "Math.abs(age) <= window ?", to: "Math.abs(age) >= 0 ?" },
    red: { file: signaturesTest, test: "slack, six minutes old" },
  },
  {
    name: "an empty secret opens nothing",
    guards: "agents, where a variable is not set",
    edit: {
      file: "packages/core/src/triggers/webhook/receive-delivery.ts",
      from: "secret !== undefined && isStrongWebhookSecret(kind, secret)",
      to: "secret !== undefined && kind",
    },
    red: {
      file: "test/webhooks/deliveries.test.ts",
      test: "a secret is changed without a restart",
    },
  },
  {
    name: "strangers on GitHub trigger nothing",
    guards: "agents, against whoever may open an issue",
    edit: {
      file: "packages/core/src/triggers/webhook/decide-actor.ts",
      from: "if (anyone) return undefined;",
      to: "if (anyone || event) return undefined;",
    },
    red: { file: "test/webhooks/decide-delivery.test.ts", test: "who may trigger can be widened" },
  },
  {
    name: "a kept delivery holds no signature and no token",
    guards: "secrets of senders, in the state",
    edit: {
      file: "packages/core/src/triggers/webhook/kept-headers.ts",
      from: "const names = id_header === undefined ? kept : [...kept, id_header.toLowerCase()];",
      to: "const names = id_header === undefined ? Object.keys(headers) : kept;",
    },
    red: { file: "test/webhooks/deliveries.test.ts", test: "shown without what proves them" },
  },
  {
    name: "in a chat only who is listed is heard",
    guards: "agents, against whoever got into the room",
    edit: {
      file: "packages/core/src/chat/may-speak.ts",
      from: 'return hasRole || includes(rules.users, sender.id) ? yes : no("the sender is not listed");',
      to: 'return hasRole || sender.id ? yes : no("the sender is not listed");',
    },
    red: { file: "test/chat/deciders.test.ts", test: "an unlisted user" },
  },
  {
    name: "programs are not heard in a chat",
    guards: "two bots that talk for ever",
    edit: {
      file: "packages/core/src/chat/may-speak.ts",
      from: 'if (sender.isBot) return no("it comes from a program");',
      to: "",
    },
    red: { file: "test/chat/deciders.test.ts", test: "a program, even one that is listed" },
  },
  {
    name: "what agents said is fenced for programs that read it",
    guards: "a client of the fleet's tools, against an agent's words",
    edit: {
      file: "packages/server/src/mcp/job-words.ts",
      from: ".map(([name, text]) => fence.wrap(`job.${name}`, text, longestWord))",
      to: ".map(([name, text]) => `${name}: ${text.slice(0, longestWord)}${fence.notice.slice(0, 0)}`)",
    },
    red: { file: "test/mcp/stdio.test.ts", test: "a client that may only look sees the fleet" },
  },
  {
    name: "who used a foreign tool has read text from outside",
    guards: "other agents, against what a tool brought in",
    edit: {
      file: "packages/core/src/fleet/errands/outside.ts",
      from: "name !== undefined && !bringsNothingIn.has(name)",
      to: 'name !== undefined && !name.startsWith("mcp__") && !bringsNothingIn.has(name)',
    },
    red: { file: "test/herd-tools/chain.test.ts", test: "an agent that used a foreign tool" },
  },
  {
    name: "hooks post to public addresses only",
    guards: "services of the machine, against a url out of metadata",
    edit: {
      file: "packages/core/src/hooks/public-lookup.ts",
      from: "const refused = addresses.find(({ address }) => !isPublicAddress(address));",
      to: "const refused = addresses.find(({ address }) => !address);",
    },
    red: { file: "test/hooks/post.test.ts", test: "a private address is refused however it is" },
  },
];
