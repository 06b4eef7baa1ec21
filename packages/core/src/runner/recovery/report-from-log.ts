import { join } from "node:path";
import { outputFileName } from "../../store/files/output-log.ts";
import type { RunFacts, RunnerClaim } from "../contract/messages.ts";
import type { SessionChoice } from "../contract/run-order.ts";
import type { RunReport } from "../contract/run-report.ts";
import {
  buildReport,
  checkReport,
  readDeliverables,
  readMetadataFile,
  readTotalsBefore,
  refusalWarnings,
  type SessionTotals,
} from "../execution/build-report.ts";
import { type Evidence, emptyEvidence } from "../execution/evidence.ts";
import type { Redactor } from "../execution/redactor.ts";
import { addPricedUsage, noSpending, type Spending } from "../gateway/metering/call-usage.ts";
import { readSpendLog, spendLogPath } from "../gateway/metering/spend-log.ts";
import { completeLog, readLogEvidence } from "./complete-log.ts";

export interface LoggedRun {
  jobId: string;
  jobDir: string;
  sessionId: string;
  file: RunnerClaim;
  facts: RunFacts;
  redactor: Redactor;
}

/** Builds the report of a run from its log and transcript, if its runner could not. */
export async function reportFromLog(
  logged: LoggedRun,
  refused?: Evidence["refused"],
): Promise<RunReport> {
  const { facts, file, sessionId } = logged;
  const startedAt = new Date(file.started_at);
  const deliverables = await readDeliverables(logged.jobDir);
  const evidenceSoFar = await gatherEvidence(logged, startedAt);
  const evidence = checkReport(evidenceSoFar, facts.demands_report, deliverables);
  const { metadata, warnings } = await collectMetadata(facts, startedAt);
  const report = buildReport({
    order: {
      jobId: logged.jobId,
      attempt: file.attempt,
      session: { sessionId },
      claude: { version: facts.claude_version },
    },
    evidence: { ...evidence, refused },
    startedAt,
    finishedAt: new Date(),
    totalsBefore: await readSpendBefore(facts, sessionId, startedAt),
    // defence: cost-of-dead-runner
    metered: await readMeteredSpending(logged.jobDir, file.attempt),
    credential: facts.credential,
    provider: facts.provider,
    metadata,
    deliverables,
    warnings: [...warnings, ...refusalWarnings(evidence)],
  });
  return logged.redactor.redact(report);
}

/** The spending that the gateway of the dead runner metered. */
export async function readMeteredSpending(jobDir: string, attempt: number): Promise<Spending> {
  const calls = await readSpendLog(spendLogPath(jobDir, attempt));
  return addPricedUsage(
    noSpending,
    calls.flatMap(({ parts }) => parts),
  );
}

async function gatherEvidence(
  { jobDir, sessionId, facts, redactor }: LoggedRun,
  startedAt: Date,
): Promise<Evidence> {
  const output = join(jobDir, outputFileName);
  const log = await readLogEvidence(output, facts.output_from, "result");
  if (log.hasFinalMessage) return log.evidence;
  await completeLog({ jobDir, sessionId, startedAt, run: facts, log, redactor });
  const completed = await readLogEvidence(output, facts.output_from, "tools");
  // A turn can be over while its background work was not.
  return completed.hasFinalMessage
    ? completed.evidence
    : { ...completed.evidence, stopped: "interrupted" };
}

async function collectMetadata(run: RunFacts, startedAt: Date) {
  const { place, cwd, metadata_file, closed_paths: closedPaths } = run;
  if (metadata_file === null) return { metadata: undefined, warnings: [] };
  const metadataFile = await readMetadataFile(
    { place, cwd, closedPaths },
    metadata_file,
    startedAt,
  );
  return {
    metadata: metadataFile.kind === "found" ? metadataFile.metadata : undefined,
    warnings: metadataFile.kind === "wrong" ? [metadataFile.warning] : [],
  };
}

/** The session's totals before the run; a new session has none. */
async function readSpendBefore(
  run: RunFacts,
  sessionId: string,
  startedAt: Date,
): Promise<SessionTotals | undefined> {
  const { forked_from: from, place, config_dir: configDir, cwd, live } = run;
  // claude only writes totals to the transcript when it exits; this one served earlier turns.
  if (live) return live.totals ?? undefined;
  const session: SessionChoice =
    from === null ? { kind: "resume", sessionId } : { kind: "fork", from, sessionId };
  try {
    return await readTotalsBefore({ session, place, configDir, cwd }, startedAt);
  } catch {
    // The folder of the run is gone.
    return undefined;
  }
}

/** The report of an attempt for which only the reason of its end is known. */
export function minimalReport(
  attempt: { jobId: string; attempt: number; sessionId: string },
  ending: Pick<Evidence, "refused" | "stopped">,
  metered?: Spending,
): RunReport {
  const now = new Date();
  const { jobId, attempt: attemptNumber, sessionId } = attempt;
  return buildReport({
    order: { jobId, attempt: attemptNumber, session: { sessionId }, claude: { version: null } },
    evidence: { ...emptyEvidence(), ...ending },
    startedAt: now,
    finishedAt: now,
    totalsBefore: undefined,
    metered,
    credential: null,
    provider: null,
    metadata: undefined,
    deliverables: { report: null, artifacts: [] },
    warnings: [],
  });
}
