/**
 * Cuts an answer into posts that are no longer than they may be. It cuts between paragraphs, then
 * lines, then words; a block of code that is cut is closed and opened again, so that each post
 * reads on its own.
 */
export function splitAnswer(text: string, most: number): string[] {
  const parts: string[] = [];
  let open = "";
  let rest = text.trimEnd();
  while (rest.length > 0) {
    const head = open === "" ? "" : `${open}\n`;
    const room = most - head.length;
    if (rest.length <= room) {
      parts.push(head + rest);
      break;
    }
    const cut = cutAt(rest, room - closing.length);
    const piece = head + rest.slice(0, cut).trimEnd();
    open = openFence(piece);
    parts.push(open === "" ? piece : piece + closing);
    rest = rest.slice(cut).replace(open === "" ? /^\s*\n/ : /^\n/, "");
  }
  return parts.filter((part) => part.trim() !== "");
}

const closing = "\n```";

/** As late as it may be, but not so early that most of the room is left empty. */
function cutAt(text: string, most: number): number {
  const within = text.slice(0, most);
  const outside = beforeFence(within);
  for (const [mark, keep] of marks) {
    const found = within.lastIndexOf(mark);
    const isInCode = mark === "\n\n" && openFence(within.slice(0, found)) !== "";
    if (found > most * keep && !isInCode) return found + mark.length;
  }
  if (outside > most / 2) return outside;
  // Half of a character that has two parts would be none.
  return /[\uD800-\uDBFF]$/.test(within) ? most - 1 : most;
}

const marks: [mark: string, keep: number][] = [
  ["\n\n", 0.5],
  ["\n", 0.3],
  [" ", 0.3],
];

/** Where the block of code begins that is still open at the end. */
function beforeFence(text: string): number {
  return openFence(text) === "" ? -1 : text.lastIndexOf("```");
}

/** The line that opened the block of code in which the text ends. */
function openFence(text: string): string {
  let open = "";
  for (const line of text.split("\n")) {
    const fence = /^\s*```\s*([^\s`]{0,20})/.exec(line);
    if (fence) open = open === "" ? `\`\`\`${fence[1]}` : "";
  }
  return open;
}
