import { textOf, timeOf } from "./fields.ts";
import type { OutputLine } from "./lines.ts";
import type { Fold, Story } from "./story.ts";
import { finish } from "./story-end.ts";
import { hear } from "./story-heard.ts";
import { piece } from "./story-pieces.ts";
import { say } from "./story-said.ts";
import { limit, note, system } from "./story-system.ts";

/** Folds the next line of a job's output into its story. */
export function tell(story: Story, { message, offset }: OutputLine): void {
  // Whoever asks again after a broken connection may be given what it has.
  if (offset <= story.offset) return;
  const line = { start: story.offset, at: timeOf(message) };
  story.offsets.push(line.start);
  story.offset = offset;
  story.revision += 1;
  folds[textOf(message.type)]?.(story, message, line);
}

const folds: Record<string, Fold> = {
  system,
  assistant: say,
  user: hear,
  stream_event: piece,
  result: finish,
  rate_limit_event: limit,
  herd: note,
};
