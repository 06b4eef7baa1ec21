import type { HookOf } from "../config/schema/hooks.ts";
import type { HookContext } from "./context.ts";
import type { HookAttempt } from "./hook-attempt.ts";
import type { HookResult } from "./hook-result.ts";
import { post } from "./post.ts";
import { cut, linesOf, withoutMentions } from "./report-lines.ts";

export function sendToDiscord(
  hook: HookOf<"discord">,
  { context, signal }: HookAttempt,
): Promise<HookResult> {
  const body = JSON.stringify(discordMessage(context, hook.format));
  return post({ url: hook.url, body, allowPrivate: hook.allow_private, signal });
}

/** Discord's own limits, with the six thousand of a whole embed kept by what each part may have. */
const limits = { content: 2_000, title: 256, description: 4_000, field: 256 };
const noPreviews = 1 << 2;

export function discordMessage(context: HookContext, format: "embed" | "text"): object {
  const { title, colour, facts, summary } = linesOf(context);
  const calm = { allowed_mentions: { parse: [] } };
  if (format === "text") {
    const lines = [title, ...facts.map(([name, value]) => `${name}: ${value}`), summary];
    const content = cut(withoutMentions(lines.join("\n").trim()), limits.content);
    return { content, flags: noPreviews, ...calm };
  }
  const embed = {
    title: cut(withoutMentions(title), limits.title),
    color: colour,
    description: cut(withoutMentions(summary), limits.description),
    fields: facts.map(([name, value]) => ({
      name,
      value: cut(withoutMentions(value), limits.field),
      inline: name !== "Outcome",
    })),
    timestamp: context.timestamp,
  };
  return { embeds: [embed], ...calm };
}
