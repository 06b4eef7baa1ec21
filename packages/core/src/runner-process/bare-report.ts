import type { Spending } from "../gateway/metering/spending.ts";
import { type Evidence, noEvidence } from "../runner/evidence.ts";
import { makeReport } from "../runner/make-report.ts";
import type { RunReport } from "../runner/run-report.ts";

/** The report of an attempt of which nothing can be read but why it ended. */
export function bareReport(
  attempt: { jobId: string; attempt: number; sessionId: string },
  ending: Pick<Evidence, "refused" | "stopped">,
  metered?: Spending,
): RunReport {
  const now = new Date();
  const { jobId, attempt: number, sessionId } = attempt;
  return makeReport({
    order: { jobId, attempt: number, session: { sessionId }, claude: { version: null } },
    evidence: { ...noEvidence(), ...ending },
    startedAt: now,
    finishedAt: now,
    totalsBefore: undefined,
    metered,
    credential: null,
    metadata: undefined,
    handedIn: { report: null, artifacts: [] },
    warnings: [],
  });
}
