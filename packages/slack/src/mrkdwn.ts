/**
 * Text as Slack shows it. What could be a mention or a link of Slack's own is made harmless first,
 * so that no agent, nor whoever it read, rings anybody's bell.
 */
export function mrkdwn(text: string): string {
  return text
    .split(/(```[\s\S]*?(?:```|$)|`[^`\n]*`)/)
    .map((piece) => (piece.startsWith("`") ? code(piece) : prose(piece)))
    .join("");
}

/** Slack would show the name of the language as the first line. */
function code(piece: string): string {
  return escaped(piece).replace(/^```[\w+#-]*\n/, "```\n");
}

function prose(piece: string): string {
  return escaped(piece)
    .replaceAll(/\[([^\]\n]+)\]\((https?:\/\/[^)\s|]+)\)/g, "<$2|$1>")
    .replaceAll(/^#{1,6}\s+(.+)$/gm, "*$1*")
    .replaceAll(/\*\*([^*\n]+)\*\*/g, "*$1*");
}

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

/** What people wrote, as they wrote it. */
export function plain(text: string): string {
  return text.replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&amp;", "&");
}
