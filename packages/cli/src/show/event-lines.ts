import type { JobEvent } from "@herdctl/core";
import { durationText } from "./amounts.ts";
import { type Look, widthInFile } from "./look.ts";
import { cut, wrap } from "./width.ts";

/** A tool call as it is shown, kept for the result that comes later. */
export interface ShownCall {
  name: string;
  gist: string;
}

type Started = Extract<JobEvent, { kind: "started" }>;

export function startLine({ model, version, sessionId }: Started, look: Look): string {
  const program = version && `Claude Code ${version}`;
  const facts = [model, program, `session ${sessionId}`].filter((one) => one !== undefined);
  return look.colors.dim(cut(facts.join(" · "), look.width ?? widthInFile));
}

export function textLines(text: string, { width }: Look): string[] {
  const lines = text.trimEnd().split("\n");
  return width === undefined ? lines : lines.flatMap((line) => wrap(line, width));
}

/** One line of it: who wants to read more finds all of it in the log. */
export function thinkingLine(text: string, look: Look): string {
  const { dim, italic } = look.colors;
  const [first = ""] = text.trim().split("\n");
  return dim(italic(cut(`✻ ${first}`, look.width ?? widthInFile)));
}

export function callLine({ name, gist }: ShownCall, look: Look): string {
  const { cyan, bold } = look.colors;
  const room = (look.width ?? widthInFile) - name.length - 4;
  return `${cyan("▸")} ${bold(name)}  ${cut(gist, Math.max(room, 10))}`;
}

const shownLines = 3;

/** The first lines, and how many more there are. `of` names the call unless it stands just above. */
export function resultLines(
  result: { text: string; isError: boolean },
  of: ShownCall | undefined,
  look: Look,
): string[] {
  const { dim, red } = look.colors;
  const written = result.text.split("\n").filter((line) => line.trim() !== "");
  const lines = written.length === 0 ? ["(nothing)"] : written;
  const more = lines.length - shownLines;
  // A fold of a single line would take the place of that line.
  const shown = more > 1 ? lines.slice(0, shownLines) : lines;
  const last = more > 1 ? [`… ${more.toLocaleString("en")} lines more`] : [];
  const paint = result.isError ? red : dim;
  const fitted = (line: string) => cut(line, (look.width ?? widthInFile) - 4);
  const named = of ? [fitted(`${of.name} ${of.gist}`)] : [];
  return [...named, ...[...shown, ...last].map((line) => paint(fitted(line)))].map(
    (line, index) => `${index === 0 ? dim("  └ ") : "    "}${line}`,
  );
}

type Notice = Extract<JobEvent, { kind: "denied" | "retry" | "limit" | "task" }>;

/** Undefined when there is nothing that a person should know. */
export function noticeLine(event: Notice, look: Look): string | undefined {
  const { yellow, dim } = look.colors;
  const text = noticeText(event);
  if (text === undefined) return undefined;
  const shown = cut(text, (look.width ?? widthInFile) - 2);
  return event.kind === "task" ? dim(`◦ ${shown}`) : yellow(`! ${shown}`);
}

export function noticeText(event: Notice): string | undefined {
  switch (event.kind) {
    case "denied":
      return `${event.tool} was denied: ${event.reason.split("\n")[0]}`;
    case "retry":
      return `${apiTrouble(event.status)}, try ${event.attempt} of ${event.of} in ${durationText(event.delayMs / 1000)}`;
    case "task":
      return `background task ${event.state}: ${event.description.split("\n")[0]}`;
    case "limit":
      if (!event.rejected) return undefined;
      return `the usage limit is reached${event.resetsAt === undefined ? "" : `; it resets ${clockTime(event.resetsAt)}`}`;
  }
}

const troubles: Record<number, string> = {
  401: "the API did not accept the credential",
  403: "the API did not accept the credential",
  429: "the API asks to slow down",
  503: "the API is overloaded",
  529: "the API is overloaded",
};

function apiTrouble(status: number | null): string {
  if (status === null) return "the API could not be reached";
  return `${troubles[status] ?? "the API failed"} (${status})`;
}

function clockTime(seconds: number): string {
  return `at ${new Date(seconds * 1000).toLocaleString("sv")}`;
}
