import type { Diff, ToolEntry, ToolResult } from "./entry.ts";
import {
  toFields,
  toFieldsList,
  toNumberOrNull,
  toText,
  toTextOrNull,
  type UnknownFields,
} from "./unknown-fields.ts";

/** Parses a tool result into text, images and a file diff. */
export function parseToolResult(
  tool: ToolEntry,
  block: UnknownFields,
  message: UnknownFields,
): ToolResult {
  const details = toFields(message.tool_use_result);
  return {
    isError: block.is_error === true,
    text: readText(block.content),
    images: toFieldsList(block.content).flatMap(readImage),
    diff: block.is_error === true ? null : readDiff(tool, details),
    uuid: toTextOrNull(message.uuid),
  };
}

function readText(content: unknown): string {
  if (typeof content === "string") return content;
  return toFieldsList(content)
    .flatMap(({ text }) => (typeof text === "string" ? [text] : []))
    .join("\n");
}

const allowedImageTypes = /^image\/(png|jpeg|gif|webp)$/;
const base64Pattern = /^[A-Za-z0-9+/=\s]+$/;

/** Only bitmap images: an SVG could contain scripts. */
function readImage({ type, source }: UnknownFields): ToolResult["images"] {
  const { media_type, data } = toFields(source);
  if (type !== "image" || !allowedImageTypes.test(toText(media_type))) return [];
  return base64Pattern.test(toText(data)) ? [{ type: toText(media_type), data: toText(data) }] : [];
}

function readDiff({ input }: ToolEntry, details: UnknownFields): Diff | null {
  const file = toText(details.filePath ?? input.file_path ?? input.notebook_path);
  const hunks = toFieldsList(details.structuredPatch).map(({ oldStart, newStart, lines }) => ({
    oldStart: toNumberOrNull(oldStart) ?? 1,
    newStart: toNumberOrNull(newStart) ?? 1,
    lines: Array.isArray(lines) ? lines.map(toText) : [],
  }));
  if (file === "") return null;
  if (hunks.length > 0) return { file, hunks };
  return details.type === "create"
    ? { file, hunks: [createdFileHunk(toText(details.content))] }
    : null;
}

function createdFileHunk(content: string): Diff["hunks"][number] {
  const lines = content.replace(/\n$/, "").split("\n");
  return { oldStart: 0, newStart: 1, lines: lines.map((line) => `+${line}`) };
}
