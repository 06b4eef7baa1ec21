import type { HookOf } from "../config/schema/hooks.ts";
import type { HookContext } from "./context.ts";
import type { HookAttempt } from "./hook-attempt.ts";
import type { HookResult } from "./hook-result.ts";
import { post } from "./post.ts";
import { cut, linesOf, withoutMentions } from "./report-lines.ts";

export function sendToSlack(
  hook: HookOf<"slack">,
  { context, signal }: HookAttempt,
): Promise<HookResult> {
  const body = JSON.stringify(slackMessage(context, hook.format));
  return post({ url: hook.url, body, allowPrivate: hook.allow_private, signal });
}

/** Slack's own limits; escaping can make five characters of one. */
const limits = { text: 4_000, header: 150, section: 2_900, field: 300 };

/** No link is looked at, for an address can carry a secret out. */
const calm = { unfurl_links: false, unfurl_media: false, link_names: false };

export function slackMessage(context: HookContext, format: "embed" | "text"): object {
  const { title, colour, facts, summary } = linesOf(context);
  const lines = [title, ...facts.map(([name, value]) => `${name}: ${value}`), summary];
  const text = escaped(cut(lines.join("\n").trim(), limits.text));
  if (format === "text") return { text, ...calm };
  const blocks = [
    { type: "header", text: plain(title, limits.header) },
    {
      type: "section",
      fields: facts.map(([name, value]) => plain(`${name}\n${value}`, limits.field)),
    },
    ...(summary === "" ? [] : [{ type: "section", text: plain(summary, limits.section) }]),
  ];
  const color = `#${colour.toString(16).padStart(6, "0")}`;
  return { text: escaped(cut(title, limits.header)), attachments: [{ color, blocks }], ...calm };
}

/** Slack reads neither links nor mentions in it. */
function plain(text: string, most: number): object {
  return { type: "plain_text", text: cut(withoutMentions(text), most), emoji: false };
}

function escaped(text: string): string {
  const harmless = text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
  return withoutMentions(harmless);
}
