import type { RunOrder } from "./run-order.ts";
import { modelTotalsSchema } from "./run-report.ts";
import { type SessionHome, sessionFilePath } from "./runtime/session-file/path.ts";
import { readTranscript } from "./runtime/session-file/read-transcript.ts";
import type { SessionTotals } from "./usage.ts";

/** What the session had cost before the run; a fork begins where its parent stands. */
export async function totalsBefore(
  order: Pick<RunOrder, "session"> & SessionHome,
  startedAt?: Date,
): Promise<SessionTotals | undefined> {
  const { session } = order;
  if (session.kind === "fresh") return undefined;
  const id = session.kind === "fork" ? session.from : session.sessionId;
  const { cost } = await readTranscript(sessionFilePath(order, id), startedAt);
  const models = modelTotalsSchema.safeParse(cost?.modelUsage);
  return cost && { costUsd: cost.totalCostUsd, models: models.success ? models.data : {} };
}
