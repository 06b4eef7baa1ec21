import type { JobEvent } from "@herdctl/protocol";
import { formatDuration } from "./format-amounts.ts";
import { fallbackWidthColumns, type TerminalStyle } from "./terminal-style.ts";
import { truncate, wrapLine } from "./text-width.ts";

/** A displayed tool call, kept until its result arrives. */
export interface DisplayedCall {
  name: string;
  summary: string;
}

type Started = Extract<JobEvent, { kind: "started" }>;

export function startLine({ model, version, sessionId }: Started, style: TerminalStyle): string {
  const program = version && `Claude Code ${version}`;
  const facts = [model, program, `session ${sessionId}`].filter((one) => one !== undefined);
  return style.colors.dim(truncate(facts.join(" · "), style.width ?? fallbackWidthColumns));
}

export function textLines(text: string, { width }: TerminalStyle): string[] {
  const lines = text.trimEnd().split("\n");
  return width === undefined ? lines : lines.flatMap((line) => wrapLine(line, width));
}

/** Only the first line; the log contains the complete text. */
export function thinkingLine(text: string, style: TerminalStyle): string {
  const { dim, italic } = style.colors;
  const [first = ""] = text.trim().split("\n");
  return dim(italic(truncate(`✻ ${first}`, style.width ?? fallbackWidthColumns)));
}

export function callLine({ name, summary }: DisplayedCall, style: TerminalStyle): string {
  const { cyan, bold } = style.colors;
  const room = (style.width ?? fallbackWidthColumns) - name.length - 4;
  return `${cyan("▸")} ${bold(name)}  ${truncate(summary, Math.max(room, 10))}`;
}

const maxResultLines = 3;

/** The first lines, and the number of further lines. Names `call` unless it is on the line above. */
export function resultLines(
  result: { text: string; isError: boolean },
  call: DisplayedCall | undefined,
  style: TerminalStyle,
): string[] {
  const { dim, red } = style.colors;
  const nonEmptyLines = result.text.split("\n").filter((line) => line.trim() !== "");
  const lines = nonEmptyLines.length === 0 ? ["(no output)"] : nonEmptyLines;
  const more = lines.length - maxResultLines;
  // To fold a single line would save no space.
  const shown = more > 1 ? lines.slice(0, maxResultLines) : lines;
  const last = more > 1 ? [`… ${more.toLocaleString("en")} more lines`] : [];
  const colorize = result.isError ? red : dim;
  const fitLine = (line: string) => truncate(line, (style.width ?? fallbackWidthColumns) - 4);
  const callLines = call ? [fitLine(`${call.name} ${call.summary}`)] : [];
  return [...callLines, ...[...shown, ...last].map((line) => colorize(fitLine(line)))].map(
    (line, index) => `${index === 0 ? dim("  └ ") : "    "}${line}`,
  );
}

type Notice = Extract<JobEvent, { kind: "denied" | "retry" | "limit" | "task" }>;

/** Undefined for an event that needs no notice. */
export function noticeLine(event: Notice, style: TerminalStyle): string | undefined {
  const { yellow, dim } = style.colors;
  const text = noticeText(event);
  if (text === undefined) return undefined;
  const shown = truncate(text, (style.width ?? fallbackWidthColumns) - 2);
  return event.kind === "task" ? dim(`◦ ${shown}`) : yellow(`! ${shown}`);
}

export function noticeText(event: Notice): string | undefined {
  switch (event.kind) {
    case "denied":
      return `${event.tool} was denied: ${event.reason.split("\n")[0]}`;
    case "retry":
      return `${apiErrorText(event.status)}; retry ${event.attempt} of ${event.of} in ${formatDuration(event.delayMs / 1000)}`;
    case "task":
      return `background task ${event.state}: ${event.description.split("\n")[0]}`;
    case "limit":
      if (!event.rejected) return undefined;
      return `the usage limit is reached${event.resetsAt === undefined ? "" : `; it resets ${formatResetTime(event.resetsAt)}`}`;
  }
}

const apiErrorTexts: Record<number, string> = {
  401: "the API rejected the credential",
  403: "the API rejected the credential",
  429: "the API rate limit is reached",
  503: "the API is overloaded",
  529: "the API is overloaded",
};

function apiErrorText(status: number | null): string {
  if (status === null) return "the API could not be reached";
  return `${apiErrorTexts[status] ?? "the API failed"} (${status})`;
}

function formatResetTime(epochSeconds: number): string {
  return `at ${new Date(epochSeconds * 1000).toLocaleString("sv")}`;
}
