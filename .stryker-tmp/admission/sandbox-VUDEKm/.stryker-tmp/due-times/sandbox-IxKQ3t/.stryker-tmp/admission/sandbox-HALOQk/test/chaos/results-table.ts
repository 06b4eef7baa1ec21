import { failPoints } from "../../packages/core/src/testing/failpoints.ts";
import type { ViolationKind } from "../invariants/observed-run.ts";
import { places } from "./run-fault-case.ts";
import type { FinishedCase } from "./run-fault-cases.ts";
import { triggerKinds } from "./trigger-kinds.ts";

const violationKinds: ViolationKind[] = ["lost", "doubled", "left", "secret", "damaged"];

/** One line per failpoint, one column per kind of trigger and place; the cells count cases. */
export function renderTable(ends: readonly FinishedCase[]): string[] {
  const columns = triggerKinds
    .flatMap((trigger) => places.map((place) => ({ trigger, place })))
    .filter((one) => ends.some((end) => isInColumn(end, one)));
  const heads = [
    "fail-point",
    ...columns.map(({ trigger, place }) => `${trigger}, ${place}`),
    ...violationKinds,
  ];
  const reached = failPoints.filter((point) => casesAtPoint(ends, point).length > 0);
  const rows = reached.map((point) => [
    point,
    ...columns.map((one) => count(casesAtPoint(ends, point).filter((end) => isInColumn(end, one)))),
    ...violationsIn(casesAtPoint(ends, point)),
  ]);
  const all = columns.map((one) => count(ends.filter((end) => isInColumn(end, one))));
  return [
    row(heads),
    row(heads.map((_, index) => (index === 0 ? "---" : "--:"))),
    ...rows.map(row),
    row(["**cases**", ...all, ...violationsIn(ends)]),
  ];
}

/** A case counts for every point at which one of its faults happened. */
function casesAtPoint(ends: readonly FinishedCase[], point: string): FinishedCase[] {
  return ends.filter(({ faults, faultCount }) =>
    faults.slice(0, faultCount).some((fault) => fault.point === point),
  );
}

function isInColumn(
  end: FinishedCase,
  { trigger, place }: Pick<FinishedCase, "trigger" | "place">,
): boolean {
  return end.trigger === trigger && end.place === place;
}

function violationsIn(ends: readonly FinishedCase[]): string[] {
  const all = ends.flatMap(({ violations }) => violations);
  return violationKinds.map((kind) => String(all.filter((one) => one.kind === kind).length));
}

function count(ends: readonly FinishedCase[]): string {
  return ends.length === 0 ? "" : String(ends.length);
}

function row(cells: readonly string[]): string {
  return `| ${cells.join(" | ")} |`;
}
