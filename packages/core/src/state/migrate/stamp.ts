import type { Value } from "../sql/steps.ts";

/**
 * Sessions and logs lie on the machine that made them, which in a database of its own went without
 * saying: in a shared one it has to be said.
 */
export function stamped(
  table: string,
  columns: readonly string[],
  row: readonly Value[],
  node: string,
): Value[] {
  const at = columns.indexOf("record");
  const isOfNode = table === "sessions" || table === "jobs";
  if (at === -1 || !isOfNode) return [...row];
  const record: Record<string, unknown> = JSON.parse(String(row[at]));
  const hasRun = table === "sessions" || Number(record.attempts) > 0;
  if (!hasRun || typeof record.node === "string") return [...row];
  return row.with(at, JSON.stringify({ ...record, node }));
}
