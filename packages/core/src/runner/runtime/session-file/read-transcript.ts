import type { SkippedLine } from "./cursor.ts";
import { readSessionFile } from "./follow.ts";
import type { SkipReason } from "./line.ts";
import { type Transcript, TranscriptFold } from "./transcript.ts";

/**
 * Everything a session file says about its session, for when whoever followed it has died; or what
 * it said before a moment in time.
 */
export async function readTranscript(
  file: string,
  before?: Date,
): Promise<Transcript & { skipped: Partial<Record<SkipReason, number>> }> {
  const skipped: Partial<Record<SkipReason, number>> = {};
  const onSkipped = ({ reason }: SkippedLine) => {
    skipped[reason] = (skipped[reason] ?? 0) + 1;
  };
  const fold = new TranscriptFold();
  for await (const { line } of readSessionFile(file, { onSkipped })) {
    if (before && line.timestamp && Date.parse(line.timestamp) >= before.getTime()) break;
    fold.add(line);
  }
  return { ...fold.transcript(), skipped };
}
