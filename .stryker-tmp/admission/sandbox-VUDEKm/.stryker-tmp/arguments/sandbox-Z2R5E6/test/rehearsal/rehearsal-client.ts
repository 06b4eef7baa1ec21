import Anthropic from "@anthropic-ai/sdk";
import { type Rehearsal, type RehearsalOptions, startRehearsal } from "@herdctl/rehearsal";
import { onTestFinished } from "vitest";

/** A rehearsal with a plain API client, for tests without `claude`. */
export async function startRehearsalClient(
  options: RehearsalOptions = {},
): Promise<Rehearsal & { client: Anthropic }> {
  const rehearsal = await startRehearsal(options);
  onTestFinished(() => rehearsal.stop());
  const client = new Anthropic({
    apiKey: "made-up",
    authToken: null,
    baseURL: rehearsal.url,
    maxRetries: 0,
  });
  return { ...rehearsal, client };
}

export const user = "user" as const;
export const assistant = "assistant" as const;
export const hello = {
  model: "claude-opus-5-5",
  max_tokens: 100,
  messages: [{ role: user, content: "hello" }],
};

export function textOf(message: Anthropic.Message): string {
  const [first] = message.content;
  if (first?.type === "text") return first.text;
  return first?.type === "tool_use" ? first.name : "";
}
