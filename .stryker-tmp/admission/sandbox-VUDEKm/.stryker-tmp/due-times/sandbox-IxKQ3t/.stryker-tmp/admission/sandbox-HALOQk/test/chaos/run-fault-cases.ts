import { availableParallelism } from "node:os";
import type { TestEngine } from "../support/docker-engine.ts";
import { type CaseResult, type FaultCase, runCase } from "./run-fault-case.ts";
import { withCleanup } from "./with-cleanup.ts";

export type FinishedCase = FaultCase &
  CaseResult & {
    seconds: number;
    /** The first run found nothing wrong, but one of its faults had not come. */
    again?: boolean;
  };

export interface RunCasesOptions {
  engine: TestEngine;
  /** No case starts after this many milliseconds. */
  maxStartMs: number;
  onFinished?: (end: FinishedCase, index: number) => void;
}

const maxConcurrentCases = Number(process.env.HERDCTL_FAULTS_AT_ONCE ?? 3 * availableParallelism());

/**
 * A case mostly waits, so several run concurrently, in the given order. On a busy machine a fault
 * may not come in time: such a case runs once more, alone.
 */
export async function runCases(
  cases: readonly FaultCase[],
  options: RunCasesOptions,
): Promise<FinishedCase[]> {
  const deadline = Date.now() + options.maxStartMs;
  const ends = await runConcurrently(cases, options, deadline);
  for (const [index, end] of ends.entries()) {
    if (!hasMissedFault(end) || Date.now() > deadline) continue;
    const { trigger, place, faults } = end;
    const again = { ...(await runToEnd({ trigger, place, faults }, options.engine)), again: true };
    ends[index] = again;
    options.onFinished?.(again, index + 1);
  }
  return ends;
}

async function runConcurrently(
  cases: readonly FaultCase[],
  { engine, onFinished }: RunCasesOptions,
  deadline: number,
): Promise<FinishedCase[]> {
  const ends: FinishedCase[] = [];
  const waiting = cases.values();
  const worker = async () => {
    for (const one of waiting) {
      if (Date.now() > deadline) return;
      const end = await runToEnd(one, engine);
      ends.push(end);
      onFinished?.(end, ends.length);
    }
  };
  await Promise.all(Array.from({ length: maxConcurrentCases }, worker));
  return ends;
}

async function runToEnd(one: FaultCase, engine: TestEngine): Promise<FinishedCase> {
  const began = Date.now();
  const result = await withCleanup((onCleanup) => runCase(one, engine, onCleanup)).catch(
    (error: unknown): CaseResult => ({
      violations: [{ kind: "lost", text: String(error) }],
      faultCount: 0,
      deaths: 0,
      attempts: 0,
      outcome: "none",
    }),
  );
  return { ...one, ...result, seconds: (Date.now() - began) / 1000 };
}

/** The case in one line, to find and repeat it. */
export function caseName({ trigger, place, faults }: FaultCase): string {
  const onFinished = faults.map(({ kind, point, nth }) => `${kind} at ${point} ${nth}`);
  return `${trigger}, ${place}: ${onFinished.join(", then ")}`;
}

/** All violations, and faults that never happened, since those prove nothing. */
export function violationTexts(ends: readonly FinishedCase[]): string[] {
  return ends.flatMap((end) => {
    const wrong = end.violations.map(({ kind, text }) => `${kind}: ${text}`);
    if (hasMissedFault(end))
      wrong.push(`${end.faults.length - end.faultCount} of its faults never happened`);
    return wrong.map((text) => `${caseName(end)} → ${text}`);
  });
}

/** There are no violations, but not all faults happened. */
function hasMissedFault({ violations, faults, faultCount }: FinishedCase): boolean {
  return violations.length === 0 && faultCount < faults.length;
}
