/**
 * Converts Markdown to Slack's mrkdwn. Slack's special characters are escaped first, so that text from
 * agents cannot create mentions or special links.
 */
export function toMrkdwn(text: string): string {
  return text
    .split(/(```[\s\S]*?(?:```|$)|`[^`\n]*`)/)
    .map((segment) => (segment.startsWith("`") ? formatCode(segment) : formatProse(segment)))
    .join("");
}

/** Removes the language of a code block, which Slack would show as its first line. */
function formatCode(segment: string): string {
  return escapeText(segment).replace(/^```[\w+#-]*\n/, "```\n");
}

function formatProse(segment: string): string {
  return escapeText(segment)
    .replaceAll(/\[([^\]\n]+)\]\((https?:\/\/[^)\s|]+)\)/g, "<$2|$1>")
    .replaceAll(/^#{1,6}\s+(.+)$/gm, "*$1*")
    .replaceAll(/\*\*([^*\n]+)\*\*/g, "*$1*");
}

function escapeText(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

/** Undoes Slack's escaping of user text. */
export function fromMrkdwn(text: string): string {
  return text.replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&amp;", "&");
}
