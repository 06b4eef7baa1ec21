import type { Options } from "@anthropic-ai/claude-agent-sdk";
import type { Invocation } from "./build-invocation.ts";
import type { InitializeFields } from "./option-channels.ts";

/** The options of `query()` that pass the same flags and `initialize` request as the CLI runtime. */
export function buildSdkOptions({
  flags,
  env,
  initialize,
}: Pick<Invocation, "flags" | "env" | "initialize">): Options {
  const repeated = (name: string) =>
    flags.flatMap(([one, value]) => (one === name && value !== null ? [value] : []));
  const flagOf = (name: string) => repeated(name).at(-1);
  return {
    env,
    ...sdkFieldsOf(initialize),
    sessionId: flagOf("session-id"),
    resume: flagOf("resume"),
    model: flagOf("model"),
    fallbackModel: flagOf("fallback-model"),
    additionalDirectories: repeated("add-dir"),
    plugins: repeated("plugin-dir").map((path) => ({ type: "local" as const, path })),
    // All others are passed as they are: the SDK would otherwise warn that some may skip `canUseTool`,
    // which is still called.
    extraArgs: Object.fromEntries(flags.filter(([name]) => !typedFlags.has(name))),
  };
}

/** Flags that may be repeated, and those that the SDK itself uses or checks. */
const typedFlags = new Set([
  ...["add-dir", "plugin-dir"],
  ...["session-id", "resume", "model", "fallback-model"],
]);

/** The SDK builds the same `initialize` request from its options. */
function sdkFieldsOf({
  systemPrompt,
  appendSystemPrompt,
  excludeDynamicSections,
  systemPromptSnapshot: snapshot,
  jsonSchema,
  ...sameNames
}: InitializeFields): Options {
  return {
    ...sameNames,
    systemPrompt: systemPrompt
      ? { type: "custom", prompt: systemPrompt, snapshot }
      : {
          type: "preset",
          preset: "claude_code",
          append: appendSystemPrompt,
          excludeDynamicSections,
          snapshot,
        },
    ...(jsonSchema && { outputFormat: { type: "json_schema", schema: jsonSchema } }),
  };
}
