import { z } from "zod";
import { checkedText, InvalidValue } from "../schema/codec.ts";
import { suggestionHint } from "../yaml/did-you-mean.ts";
import { hookEvents } from "./hook-events.ts";

const knownEvents: readonly string[] = hookEvents;

const eventName = checkedText((text) =>
  knownEvents.includes(text)
    ? undefined
    : new InvalidValue(
        `Claude Code has no hook event \`${text}\``,
        suggestionHint(text, [...knownEvents]),
      ),
);

const timeout = z.number().positive().optional();
const onFailure = z.enum(["continue", "block"]).optional();
const text = z.string().min(1);

const hook = z.discriminatedUnion("type", [
  z.looseObject({
    type: z.literal("command"),
    command: text,
    args: z.array(z.string()).optional(),
    timeout,
    onFailure,
  }),
  z.looseObject({
    type: z.literal("http"),
    url: z.url(),
    headers: z.record(z.string(), z.string()).optional(),
    allowedEnvVars: z.array(z.string()).optional(),
    timeout,
    onFailure,
  }),
  z.looseObject({ type: z.literal("prompt"), prompt: text, timeout }),
  z.looseObject({ type: z.literal("agent"), prompt: text, timeout }),
  z.looseObject({ type: z.literal("mcp_tool"), server: text, tool: text, timeout }),
]);

const hookMatcher = z.looseObject({ matcher: z.string().optional(), hooks: z.array(hook) });

/** The hooks of Claude Code. It drops a hook of another shape without a word. */
export const claudeHooksSchema = z.record(eventName, z.array(hookMatcher));
