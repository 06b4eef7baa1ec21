import { availableParallelism } from "node:os";
import type { TestEngine } from "../support/engine.ts";
import { type CaseResult, type FaultCase, runCase } from "./run-case.ts";
import { inScope } from "./scope.ts";

export type CaseEnd = FaultCase & CaseResult & { seconds: number };

export interface RunCasesOptions {
  engine: TestEngine;
  /** No case begins after this, in milliseconds. */
  longest: number;
  told?: (end: CaseEnd, index: number) => void;
}

const atOnce = Number(process.env.HERDCTL_FAULTS_AT_ONCE ?? 3 * availableParallelism());

/** Most of a case is waiting: some run at once, in the order given. */
export async function runCases(
  cases: readonly FaultCase[],
  { engine, longest, told }: RunCasesOptions,
): Promise<CaseEnd[]> {
  const deadline = Date.now() + longest;
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
    const missing = end.faults.length - end.happened;
    if (wrong.length === 0 && missing > 0) wrong.push(`${missing} of its faults never happened`);
    return wrong.map((text) => `${nameOf(end)} → ${text}`);
  });
}
