import { failPoints } from "../../packages/core/src/faults/fail-points.ts";
import type { WrongKind } from "../oracle/story.ts";
import { places } from "./run-case.ts";
import type { CaseEnd } from "./run-cases.ts";
import { triggerKinds } from "./trigger-kinds.ts";

const kinds: WrongKind[] = ["lost", "doubled", "left", "secret", "damaged"];

/** A line for each fail-point: cases in which a fault happened there, by kind of trigger and place. */
export function tableOf(ends: readonly CaseEnd[]): string[] {
  const columns = triggerKinds
    .flatMap((trigger) => places.map((place) => ({ trigger, place })))
    .filter((one) => ends.some((end) => isIn(end, one)));
  const heads = [
    "fail-point",
    ...columns.map(({ trigger, place }) => `${trigger}, ${place}`),
    ...kinds,
  ];
  const reached = failPoints.filter((point) => at(ends, point).length > 0);
  const rows = reached.map((point) => [
    point,
    ...columns.map((one) => count(at(ends, point).filter((end) => isIn(end, one)))),
    ...wrongIn(at(ends, point)),
  ]);
  const all = columns.map((one) => count(ends.filter((end) => isIn(end, one))));
  return [
    row(heads),
    row(heads.map((_, index) => (index === 0 ? "---" : "--:"))),
    ...rows.map(row),
    row(["**cases**", ...all, ...wrongIn(ends)]),
  ];
}

/** A case belongs to every point at which one of its faults happened. */
function at(ends: readonly CaseEnd[], point: string): CaseEnd[] {
  return ends.filter(({ faults, happened }) =>
    faults.slice(0, happened).some((fault) => fault.point === point),
  );
}

function isIn(end: CaseEnd, { trigger, place }: Pick<CaseEnd, "trigger" | "place">): boolean {
  return end.trigger === trigger && end.place === place;
}

function wrongIn(ends: readonly CaseEnd[]): string[] {
  const all = ends.flatMap(({ wrong }) => wrong);
  return kinds.map((kind) => String(all.filter((one) => one.kind === kind).length));
}

function count(ends: readonly CaseEnd[]): string {
  return ends.length === 0 ? "" : String(ends.length);
}

function row(cells: readonly string[]): string {
  return `| ${cells.join(" | ")} |`;
}
