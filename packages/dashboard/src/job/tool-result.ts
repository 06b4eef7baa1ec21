import type { Diff, ToolEntry, ToolResult } from "./entry.ts";
import { type Fields, fieldsOf, listOf, numberOf, textOf, textOrNull } from "./fields.ts";

/** What a tool gave back, as it can be shown: text, pictures, and what it changed in a file. */
export function resultOf(tool: ToolEntry, block: Fields, message: Fields): ToolResult {
  const details = fieldsOf(message.tool_use_result);
  return {
    isError: block.is_error === true,
    text: wordsOf(block.content),
    images: listOf(block.content).flatMap(imageOf),
    diff: block.is_error === true ? null : diffOf(tool, details),
    uuid: textOrNull(message.uuid),
  };
}

function wordsOf(content: unknown): string {
  if (typeof content === "string") return content;
  return listOf(content)
    .flatMap(({ text }) => (typeof text === "string" ? [text] : []))
    .join("\n");
}

const shownImages = /^image\/(png|jpeg|gif|webp)$/;
const base64 = /^[A-Za-z0-9+/=\s]+$/;

/** Only kinds that are nothing but a picture: an SVG could hold more. */
function imageOf({ type, source }: Fields): ToolResult["images"] {
  const { media_type, data } = fieldsOf(source);
  if (type !== "image" || !shownImages.test(textOf(media_type))) return [];
  return base64.test(textOf(data)) ? [{ type: textOf(media_type), data: textOf(data) }] : [];
}

function diffOf({ input }: ToolEntry, details: Fields): Diff | null {
  const file = textOf(details.filePath ?? input.file_path ?? input.notebook_path);
  const hunks = listOf(details.structuredPatch).map(({ oldStart, newStart, lines }) => ({
    oldStart: numberOf(oldStart) ?? 1,
    newStart: numberOf(newStart) ?? 1,
    lines: Array.isArray(lines) ? lines.map(textOf) : [],
  }));
  if (file === "") return null;
  if (hunks.length > 0) return { file, hunks };
  return details.type === "create" ? { file, hunks: [createdBy(textOf(details.content))] } : null;
}

function createdBy(content: string): Diff["hunks"][number] {
  const lines = content.replace(/\n$/, "").split("\n");
  return { oldStart: 0, newStart: 1, lines: lines.map((line) => `+${line}`) };
}
