import { availableParallelism } from "node:os";
import type { TestEngine } from "../support/engine.ts";
import { type CaseResult, type FaultCase, runCase } from "./run-case.ts";
import { inScope } from "./scope.ts";

export type CaseEnd = FaultCase &
  CaseResult & {
    seconds: number;
    /** One of its faults had not come the first time, which found nothing wrong. */
    again?: boolean;
  };

export interface RunCasesOptions {
  engine: TestEngine;
  /** No case begins after this, in milliseconds. */
  longest: number;
  told?: (end: CaseEnd, index: number) => void;
}

const atOnce = Number(process.env.HERDCTL_FAULTS_AT_ONCE ?? 3 * availableParallelism());

/**
 * Most of a case is waiting: some run at once, in the order given. On a busy machine somebody else
 * may be quicker than the one who was to fail: such a case is run once more, by itself.
 */
export async function runCases(
  cases: readonly FaultCase[],
  options: RunCasesOptions,
): Promise<CaseEnd[]> {
  const deadline = Date.now() + options.longest;
  const ends = await runTogether(cases, options, deadline);
  for (const [index, end] of ends.entries()) {
    if (!isMissing(end) || Date.now() > deadline) continue;
    const { trigger, place, faults } = end;
    const again = { ...(await endOf({ trigger, place, faults }, options.engine)), again: true };
    ends[index] = again;
    options.told?.(again, index + 1);
  }
  return ends;
}

async function runTogether(
  cases: readonly FaultCase[],
  { engine, told }: RunCasesOptions,
  deadline: number,
): Promise<CaseEnd[]> {
  const ends: CaseEnd[] = [];
  const waiting = cases.values();
  const worker = async () => {
    for (const one of waiting) {
      if (Date.now() > deadline) return;
      const end = await endOf(one, engine);
      ends.push(end);
      told?.(end, ends.length);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
  return ends;
}

async function endOf(one: FaultCase, engine: TestEngine): Promise<CaseEnd> {
  const began = Date.now();
  const result = await inScope((whenOver) => runCase(one, engine, whenOver)).catch(
    (error: unknown): CaseResult => ({
      wrong: [{ kind: "lost", text: String(error) }],
      happened: 0,
      deaths: 0,
      attempts: 0,
      outcome: "none",
    }),
  );
  return { ...one, ...result, seconds: (Date.now() - began) / 1000 };
}

/** The case in one line, so that it can be found and done again. */
export function nameOf({ trigger, place, faults }: FaultCase): string {
  const told = faults.map(({ kind, point, nth }) => `${kind} at ${point} ${nth}`);
  return `${trigger}, ${place}: ${told.join(", then ")}`;
}

/** Everything that is wrong, and faults that never happened: of those nothing is known. */
export function complaintsOf(ends: readonly CaseEnd[]): string[] {
  return ends.flatMap((end) => {
    const wrong = end.wrong.map(({ kind, text }) => `${kind}: ${text}`);
    if (isMissing(end))
      wrong.push(`${end.faults.length - end.happened} of its faults never happened`);
    return wrong.map((text) => `${nameOf(end)} → ${text}`);
  });
}

/** Nothing was wrong, but not all of its faults came. */
function isMissing({ wrong, faults, happened }: CaseEnd): boolean {
  return wrong.length === 0 && happened < faults.length;
}
