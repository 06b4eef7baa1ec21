import { join } from "node:path";
import { readSpendLog, spendLogPath } from "../gateway/metering/spend-log.ts";
import { addCalls, noSpending, type Spending } from "../gateway/metering/spending.ts";
import type { Evidence } from "../runner/evidence.ts";
import { handedIn, refusalWarnings, withReport } from "../runner/handed-in.ts";
import { makeReport } from "../runner/make-report.ts";
import { readMetadataFile } from "../runner/metadata-file.ts";
import type { Redactor } from "../runner/redactor.ts";
import type { RunReport } from "../runner/run-report.ts";
import type { SessionChoice } from "../runner/runtime/interface.ts";
import { totalsBefore } from "../runner/session-totals.ts";
import type { SessionTotals } from "../runner/usage.ts";
import { outputName } from "../state/output-writer.ts";
import { completeLog } from "./complete-log.ts";
import type { RunFacts, RunnerFile } from "./contract.ts";
import { evidenceOfLog } from "./evidence-of-log.ts";

export interface LoggedRun {
  jobId: string;
  jobDir: string;
  sessionId: string;
  file: RunnerFile;
  run: RunFacts;
  redactor: Redactor;
}

/** The report of a run whose runner could not make one, from its log and its transcript. */
export async function reportOfLog(
  logged: LoggedRun,
  refused?: Evidence["refused"],
): Promise<RunReport> {
  const { run, file, sessionId } = logged;
  const startedAt = new Date(file.started_at);
  const given = await handedIn(logged.jobDir);
  const seen = await gatherEvidence(logged, startedAt);
  const evidence = withReport(seen, run.demands_report, given);
  const { metadata, warnings } = await metadataOf(run, startedAt);
  const report = makeReport({
    order: {
      jobId: logged.jobId,
      attempt: file.attempt,
      session: { sessionId },
      claude: { version: run.claude_version },
    },
    evidence: { ...evidence, refused },
    startedAt,
    finishedAt: new Date(),
    totalsBefore: await spentBefore(run, sessionId, startedAt),
    metered: await meteredOf(logged.jobDir, file.attempt),
    credential: run.credential,
    metadata,
    handedIn: given,
    warnings: [...warnings, ...refusalWarnings(evidence)],
  });
  return logged.redactor.redact(report);
}

/** What the gateway of the dead runner had metered. */
export async function meteredOf(jobDir: string, attempt: number): Promise<Spending> {
  const calls = await readSpendLog(spendLogPath(jobDir, attempt));
  return addCalls(
    noSpending,
    calls.flatMap(({ parts }) => parts),
  );
}

async function gatherEvidence(
  { jobDir, sessionId, run, redactor }: LoggedRun,
  startedAt: Date,
): Promise<Evidence> {
  const output = join(jobDir, outputName);
  const log = await evidenceOfLog(output, run.output_from, "result");
  if (log.hadLastWord) return log.evidence;
  await completeLog({ jobDir, sessionId, startedAt, run, log, redactor });
  const whole = await evidenceOfLog(output, run.output_from, "tools");
  // A turn may be over while work of it in the background was not.
  return whole.hadLastWord ? whole.evidence : { ...whole.evidence, stopped: "interrupted" };
}

async function metadataOf(run: RunFacts, startedAt: Date) {
  const { place, cwd, metadata_file, closed_paths: closed } = run;
  if (metadata_file === null) return { metadata: undefined, warnings: [] };
  const read = await readMetadataFile({ place, cwd, closed }, metadata_file, startedAt);
  return {
    metadata: read.kind === "found" ? read.metadata : undefined,
    warnings: read.kind === "wrong" ? [read.warning] : [],
  };
}

/** A session that was fresh has nothing older than the run. */
async function spentBefore(
  run: RunFacts,
  sessionId: string,
  startedAt: Date,
): Promise<SessionTotals | undefined> {
  const { forked_from: from, place, config_dir: configDir, cwd, live } = run;
  // Totals reach the transcript when claude ends, and this one had been up since an earlier turn.
  if (live) return live.totals ?? undefined;
  const session: SessionChoice =
    from === null ? { kind: "resume", sessionId } : { kind: "fork", from, sessionId };
  try {
    return await totalsBefore({ session, place, configDir, cwd }, startedAt);
  } catch {
    // The folder of the run is gone.
    return undefined;
  }
}
