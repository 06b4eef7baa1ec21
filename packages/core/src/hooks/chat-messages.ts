import type { HookOf } from "@herdctl/config";
import { escapeInvisible, escapeInvisibleInline, formatInput } from "@herdctl/protocol";
import { failed, type HookAttempt, type HookContext, type HookResult } from "./hook-attempt.ts";
import { httpPost } from "./http-post.ts";
import { truncate } from "./truncate.ts";

type MessageHook = HookOf<"discord"> | HookOf<"slack">;

/** The parts of a message about a job. Each chat has a different layout for them. */
interface MessageParts {
  title: string;
  colour: number;
  facts: [name: string, value: string][];
  text: string;
  /** The page that the message is about, and what people do there. */
  link: { url: string; label: string } | undefined;
}

function messageParts(context: HookContext): MessageParts {
  const { question, wait } = context;
  if (question) return questionParts(context, question);
  return wait ? waitParts(context, wait) : endParts(context);
}

function endParts({ fleet, job, url }: HookContext): MessageParts {
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
    text: job.summary ?? "",
    link: linkTo(url, "Show the job"),
  };
}

function questionParts(
  { fleet, job, url }: HookContext,
  question: NonNullable<HookContext["question"]>,
): MessageParts {
  const { id, kind, tool, input, choices } = question;
  const isPermission = kind === "permission";
  const command = isPermission ? `herdctl approvals allow ${id}` : `herdctl answer ${id} …`;
  const offered = (choices ?? []).map(({ label }, index) => `${index + 1}  ${label}`);
  return {
    title: isPermission
      ? `🔐 ${job.agent} wants to use ${escapeInvisibleInline(tool)}`
      : `❓ ${job.agent} has a question`,
    colour: waitingColour,
    facts: [
      ["Answer", command],
      ["Until", timeText(question.expires_at)],
      ["Job", `${job.id} (${fleet})`],
    ],
    text: isPermission
      ? formatInput(input)
      : escapeInvisible([question.question ?? "", ...offered].join("\n")),
    link: linkTo(url, "Answer in the dashboard"),
  };
}

function waitParts(
  { fleet, job, url }: HookContext,
  { outcome, until }: NonNullable<HookContext["wait"]>,
): MessageParts {
  return {
    title: `⏳ ${job.agent} waits: ${outcome.code}`,
    colour: waitingColour,
    facts: [
      ["Reason", outcome.message],
      ["Until", timeText(until)],
      ["Job", `${job.id} (${fleet})`],
    ],
    text: outcome.hint,
    link: linkTo(url, "Show the job"),
  };
}

const waitingColour = 0xbf_87_00;

function linkTo(url: string | null, label: string): MessageParts["link"] {
  return url === null ? undefined : { url, label };
}

function timeText(time: string): string {
  return `${time.slice(0, 16).replace("T", " ")} UTC`;
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
  { context, environment, signal }: HookAttempt,
): Promise<HookResult> {
  const message = discordMessage(context, hook.format);
  const { url, channel_id: channel, base_url: base = "https://discord.com/api" } = hook;
  if (url !== undefined) return post(hook, url, message, {}, signal);
  const token = botToken(hook, environment);
  if (token === undefined) return tokenMissing(hook);
  const path = `/v10/channels/${encodeURIComponent(channel ?? "")}/messages`;
  return post(hook, joinUrl(base, path), message, { authorization: `Bot ${token}` }, signal);
}

function botToken({ token_env: name }: MessageHook, environment: HookAttempt["environment"]) {
  return (name && environment[name]) || undefined;
}

async function tokenMissing({ token_env: name }: MessageHook): Promise<HookResult> {
  const message = `${name} is not set, so the bot could not post the message`;
  return failed(message, { isTransient: false });
}

function post(
  { allow_private: allowPrivateHosts }: MessageHook,
  url: string,
  message: object,
  headers: Record<string, string>,
  signal: AbortSignal,
): Promise<HookResult> {
  return httpPost({ url, body: JSON.stringify(message), headers, allowPrivateHosts, signal });
}

function joinUrl(base: string, path: string): string {
  return `${base.replace(/\/$/, "")}${path}`;
}

/** Facts that need a line of their own. */
const wideFacts = ["Outcome", "Reason", "Answer"];

function textLines({ title, facts, text }: Pick<MessageParts, "title" | "facts" | "text">) {
  return [title, ...facts.map(([name, value]) => `${name}: ${value}`), text].join("\n").trim();
}

/** Discord's limits. The limits of the parts keep an embed below 6,000 characters. */
const discordLimits = { content: 2_000, title: 256, description: 4_000, field: 256 };

const suppressEmbedsFlag = 1 << 2;

export function discordMessage(context: HookContext, format: "embed" | "text"): object {
  const { title, colour, facts, text, link } = messageParts(context);
  const noMentions = { allowed_mentions: { parse: [] } };
  if (format === "text") {
    const ending = link ? `\n${link.url}` : "";
    const lines = textLines({ title, facts, text });
    const content = truncate(withoutMentions(lines), discordLimits.content - ending.length);
    return { content: `${content}${ending}`, flags: suppressEmbedsFlag, ...noMentions };
  }
  const embed = {
    title: truncate(withoutMentions(title), discordLimits.title),
    color: colour,
    ...(link && { url: link.url }),
    description: truncate(withoutMentions(text), discordLimits.description),
    fields: facts.map(([name, value]) => ({
      name,
      value: truncate(withoutMentions(value), discordLimits.field),
      inline: !wideFacts.includes(name),
    })),
    timestamp: context.timestamp,
  };
  return { embeds: [embed], ...noMentions };
}

export async function sendToSlack(
  hook: HookOf<"slack">,
  { context, environment, signal }: HookAttempt,
): Promise<HookResult> {
  const message = slackMessage(context, hook.format);
  const { url, channel_id: channel, base_url: base = "https://slack.com/api" } = hook;
  if (url !== undefined) return post(hook, url, message, {}, signal);
  const token = botToken(hook, environment);
  if (token === undefined) return tokenMissing(hook);
  const headers = { authorization: `Bearer ${token}` };
  const address = joinUrl(base, "/chat.postMessage");
  return slackResult(await post(hook, address, { channel, ...message }, headers, signal));
}

/** Slack answers a refused message with status 200. */
function slackResult(result: HookResult): HookResult {
  const error = /"ok":\s*false.*?"error":\s*"(\w+)"/s.exec(result.output ?? "")?.[1];
  if (error === undefined) return result;
  return failed(`Slack refused the message: ${error}`, { isTransient: error === "ratelimited" });
}

/** Slack's limits. Escaping can turn one character into five. */
const slackLimits = { text: 4_000, header: 150, section: 2_900, field: 300 };

/** Links are not previewed, because a URL can leak a secret. */
const noMentions = { unfurl_links: false, unfurl_media: false, link_names: false };

export function slackMessage(context: HookContext, format: "embed" | "text"): object {
  const { title, colour, facts, text, link } = messageParts(context);
  if (format === "text") {
    const lines = escapeForSlack(truncate(textLines({ title, facts, text }), slackLimits.text));
    return { text: link ? `${lines}\n${slackLink(link)}` : lines, ...noMentions };
  }
  const blocks = [
    { type: "header", text: plainTextBlock(title, slackLimits.header) },
    {
      type: "section",
      fields: facts.map(([name, value]) => plainTextBlock(`${name}\n${value}`, slackLimits.field)),
    },
    ...(text === "" ? [] : [{ type: "section", text: plainTextBlock(text, slackLimits.section) }]),
    ...(link ? [{ type: "section", text: { type: "mrkdwn", text: slackLink(link) } }] : []),
  ];
  const color = `#${colour.toString(16).padStart(6, "0")}`;
  return {
    text: escapeForSlack(truncate(title, slackLimits.header)),
    attachments: [{ color, blocks }],
    ...noMentions,
  };
}

/** The address comes from the fleet, not from an agent. */
function slackLink({ url, label }: NonNullable<MessageParts["link"]>): string {
  return `<${url.replaceAll("|", "%7C").replaceAll(">", "%3E")}|${label}>`;
}

/** Slack does not parse links or mentions in plain text. */
function plainTextBlock(text: string, maxLength: number): object {
  return { type: "plain_text", text: truncate(withoutMentions(text), maxLength), emoji: false };
}

function escapeForSlack(text: string): string {
  const escapedText = text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
  return withoutMentions(escapedText);
}
