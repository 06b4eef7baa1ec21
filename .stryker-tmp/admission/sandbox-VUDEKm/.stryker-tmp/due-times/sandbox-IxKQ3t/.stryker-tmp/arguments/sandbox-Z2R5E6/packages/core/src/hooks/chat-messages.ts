import type { HookOf } from "@herdctl/config";
import type { HookAttempt, HookResult } from "./hook-attempt.ts";
import type { HookContext } from "./hook-context.ts";
import { httpPost } from "./http-post.ts";

/** The parts of a message about a job. Each chat has a different layout for them. */
interface JobSummary {
  title: string;
  colour: number;
  facts: [name: string, value: string][];
  summary: string;
}

function summarizeJob({ fleet, job }: HookContext): JobSummary {
  const statusStyle = statusStyles[job.status] ?? statusStyles.failed;
  const outcome = job.outcome;
  return {
    title: `${statusStyle.mark} ${job.agent}: ${outcome?.code ?? job.status}`,
    colour: statusStyle.colour,
    facts: [
      ["Outcome", outcome?.message ?? job.status],
      ["Cost", job.cost_usd === null ? "–" : `$${job.cost_usd.toFixed(2)}`],
      ["Duration", durationText(job.duration_seconds)],
      ["Job", `${job.id} (${fleet})`],
    ],
    summary: job.summary ?? "",
  };
}

/** Cuts a text to a maximum length; an ellipsis marks a cut. */
function truncate(text: string, maxLength: number): string {
  if (text.length <= maxLength) return text;
  // Does not split a surrogate pair.
  return `${text.slice(0, maxLength - 1).replace(/[\uD800-\uDBFF]$/, "")}…`;
}

/** A mention notifies people, which neither an agent nor text that it read may do. */
function withoutMentions(text: string): string {
  return text.replaceAll("@", "@\u200b");
}

const statusStyles = {
  completed: { mark: "✅", colour: 0x2e_a0_43 },
  failed: { mark: "❌", colour: 0xcf_22_2e },
  cancelled: { mark: "⏹️", colour: 0x6e_77_81 },
  skipped: { mark: "⏭️", colour: 0x6e_77_81 },
  pending: { mark: "⏳", colour: 0x6e_77_81 },
  running: { mark: "⏳", colour: 0x6e_77_81 },
  waiting: { mark: "⏳", colour: 0x6e_77_81 },
};

function durationText(seconds: number | null): string {
  if (seconds === null) return "–";
  if (seconds < 60) return `${seconds.toFixed(1)} s`;
  const minutes = Math.floor(seconds / 60);
  return minutes < 60
    ? `${minutes} min ${Math.round(seconds % 60)} s`
    : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

export function sendToDiscord(
  hook: HookOf<"discord">,
  { context, signal }: HookAttempt,
): Promise<HookResult> {
  const body = JSON.stringify(discordMessage(context, hook.format));
  return httpPost({ url: hook.url, body, allowPrivateHosts: hook.allow_private, signal });
}

/** Discord's limits. The limits of the parts keep an embed below 6,000 characters. */
const discordLimits = { content: 2_000, title: 256, description: 4_000, field: 256 };

const suppressEmbedsFlag = 1 << 2;

export function discordMessage(context: HookContext, format: "embed" | "text"): object {
  const { title, colour, facts, summary } = summarizeJob(context);
  const noMentions = { allowed_mentions: { parse: [] } };
  if (format === "text") {
    const lines = [title, ...facts.map(([name, value]) => `${name}: ${value}`), summary];
    const content = truncate(withoutMentions(lines.join("\n").trim()), discordLimits.content);
    return { content, flags: suppressEmbedsFlag, ...noMentions };
  }
  const embed = {
    title: truncate(withoutMentions(title), discordLimits.title),
    color: colour,
    description: truncate(withoutMentions(summary), discordLimits.description),
    fields: facts.map(([name, value]) => ({
      name,
      value: truncate(withoutMentions(value), discordLimits.field),
      inline: name !== "Outcome",
    })),
    timestamp: context.timestamp,
  };
  return { embeds: [embed], ...noMentions };
}

export function sendToSlack(
  hook: HookOf<"slack">,
  { context, signal }: HookAttempt,
): Promise<HookResult> {
  const body = JSON.stringify(slackMessage(context, hook.format));
  return httpPost({ url: hook.url, body, allowPrivateHosts: hook.allow_private, signal });
}

/** Slack's limits. Escaping can turn one character into five. */
const slackLimits = { text: 4_000, header: 150, section: 2_900, field: 300 };

/** Links are not previewed, because a URL can leak a secret. */
const noMentions = { unfurl_links: false, unfurl_media: false, link_names: false };

export function slackMessage(context: HookContext, format: "embed" | "text"): object {
  const { title, colour, facts, summary } = summarizeJob(context);
  const lines = [title, ...facts.map(([name, value]) => `${name}: ${value}`), summary];
  const text = escapeForSlack(truncate(lines.join("\n").trim(), slackLimits.text));
  if (format === "text") return { text, ...noMentions };
  const blocks = [
    { type: "header", text: plainTextBlock(title, slackLimits.header) },
    {
      type: "section",
      fields: facts.map(([name, value]) => plainTextBlock(`${name}\n${value}`, slackLimits.field)),
    },
    ...(summary === ""
      ? []
      : [{ type: "section", text: plainTextBlock(summary, slackLimits.section) }]),
  ];
  const color = `#${colour.toString(16).padStart(6, "0")}`;
  return {
    text: escapeForSlack(truncate(title, slackLimits.header)),
    attachments: [{ color, blocks }],
    ...noMentions,
  };
}

/** Slack does not parse links or mentions in plain text. */
function plainTextBlock(text: string, maxLength: number): object {
  return { type: "plain_text", text: truncate(withoutMentions(text), maxLength), emoji: false };
}

function escapeForSlack(text: string): string {
  const escapedText = text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
  return withoutMentions(escapedText);
}
