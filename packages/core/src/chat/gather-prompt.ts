import type { Attachment, ChatMessage } from "../state/chat.ts";
import { chatPrompt, type GivenAttachment } from "./chat-prompt.ts";
import type { EarlierMessage } from "./connector.ts";
import { isImage, keepImage, takesImages } from "./kept-images.ts";
import type { LinkContext } from "./link-context.ts";
import { listenRules } from "./listen-rules.ts";
import { maySpeak } from "./may-speak.ts";

const longestText = 200_000;
const largestImage = 5_000_000;
const mostAttachments = 5;

/** The prompt of a message, with what was said before it and what came with it. */
export async function gatherPrompt(
  context: LinkContext,
  message: ChatMessage,
  { since, lead }: { since: Date | undefined; lead: string | undefined },
): Promise<string> {
  const earlier = await earlierOf(context, message, since);
  const attachments: GivenAttachment[] = [];
  for (const [index, one] of message.attachments.entries()) {
    const given =
      index >= mostAttachments
        ? leftOut(one, "there are too many")
        : await give(context, message, one, index + 1);
    attachments.push(given);
  }
  const canKeepFiles = context.agent().tools.includes("artifact");
  return chatPrompt(message, earlier, attachments, { lead, canKeepFiles });
}

/**
 * What the session does not know yet, of people who are listed: nobody else gets words into a prompt.
 * It is background: without it there is still an answer.
 */
async function earlierOf(
  { agent, connector, platform, settings }: LinkContext,
  { room, message_id, wants_context }: ChatMessage,
  since: Date | undefined,
): Promise<EarlierMessage[]> {
  if (!wants_context || settings.context_messages === 0) return [];
  const found = await connector
    .earlier(room, message_id, settings.context_messages)
    .catch((): EarlierMessage[] => []);
  const { chat } = agent();
  const rules = chat && listenRules(chat, platform);
  if (!rules) return [];
  const isNew = ({ sentAt }: EarlierMessage) => since === undefined || sentAt > since;
  return found.filter((one) => isNew(one) && maySpeak(rules, room, one.sender).heard);
}

async function give(
  context: LinkContext,
  message: ChatMessage,
  attachment: Attachment,
  number: number,
): Promise<GivenAttachment> {
  const { type, bytes } = attachment;
  const asImage = isImage(type);
  if (asImage && !takesImages(context.agent()))
    return leftOut(attachment, "there is no folder yet");
  if (!asImage && !textual.test(type)) return leftOut(attachment, "this kind is not read");
  const most = asImage ? largestImage : longestText;
  if (bytes > most) return leftOut(attachment, "it is too large");
  try {
    const content = await context.connector.download(attachment, most);
    if (!asImage) return { ...attachment, text: content.toString("utf8") };
    const path = await keepImage(context.agent(), message, { number, type, content });
    return { ...attachment, path };
  } catch {
    return leftOut(attachment, "it could not be fetched or kept");
  }
}

function leftOut(attachment: Attachment, missing: string): GivenAttachment {
  return { ...attachment, missing };
}

const textual = /^(text\/|application\/(json|xml|x-yaml|yaml|toml|javascript|x-sh|sql))/;
