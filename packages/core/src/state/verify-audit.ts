import { type AuditHead, type AuditRow, type AuditStore, hashAuditRecord } from "./audit.ts";

interface AuditProblem {
  kind: "edited" | "missing" | "truncated";
  /** The record, or the first one of those that are missing. */
  number: number;
  message: string;
}

interface AuditVerdict {
  head: AuditHead;
  problems: AuditProblem[];
}

const maxProblems = 20;

/** Follows the chain of hashes from the first record to the head. */
export async function verifyAudit(
  store: Pick<AuditStore, "head" | "rowsFrom">,
): Promise<AuditVerdict> {
  const problems: AuditProblem[] = [];
  let last: AuditHead = { count: 0, hash: null };
  for (;;) {
    const rows = await store.rowsFrom(last.count + 1);
    for (const row of rows) {
      problems.push(...problemsOf(row, last));
      last = { count: row.number, hash: row.hash };
    }
    if (problems.length >= maxProblems) break;
    if (rows.length > 0) continue;
    const head = await store.head();
    // A fleet may have appended a record after the page was read.
    if (head.count > last.count && (await store.rowsFrom(last.count + 1)).length > 0) continue;
    return { head, problems: [...problems, ...problemsAtEnd(head, last)] };
  }
  return { head: await store.head(), problems: problems.slice(0, maxProblems) };
}

function problemsOf({ number, record, hash }: AuditRow, last: AuditHead): AuditProblem[] {
  const expected = last.count + 1;
  const problems: AuditProblem[] = [];
  if (number !== expected) {
    const which = number - 1 === expected ? `${expected} is` : `${expected} to ${number - 1} are`;
    problems.push({ kind: "missing", number: expected, message: `record ${which} missing` });
  }
  const content = parsed(record);
  if (content?.number !== number || hashAuditRecord(content) !== hash) {
    problems.push({ kind: "edited", number, message: `record ${number} was edited` });
  } else if (number === expected && content.previous_hash !== last.hash) {
    const message = `record ${number - 1} was replaced: record ${number} follows another one`;
    problems.push({ kind: "edited", number: Math.max(1, number - 1), message });
  }
  return problems;
}

function problemsAtEnd(head: AuditHead, last: AuditHead): AuditProblem[] {
  const first = last.count + 1;
  if (head.count > last.count) {
    const which = head.count === first ? `record ${first} is` : `records ${first} to ${head.count}`;
    const verb = head.count === first ? "" : " are";
    const message = `the end is cut off: ${which}${verb} missing`;
    return [{ kind: "truncated", number: first, message }];
  }
  if (head.count === last.count && head.hash === last.hash) return [];
  const message =
    head.count < last.count
      ? `the head of the log was changed: it names ${head.count} of ${last.count} records`
      : `record ${last.count} was replaced: the head of the log names another one`;
  return [{ kind: "edited", number: last.count, message }];
}

function parsed(record: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(record);
    return typeof value === "object" && value !== null ? { ...value } : undefined;
  } catch {
    return undefined;
  }
}
