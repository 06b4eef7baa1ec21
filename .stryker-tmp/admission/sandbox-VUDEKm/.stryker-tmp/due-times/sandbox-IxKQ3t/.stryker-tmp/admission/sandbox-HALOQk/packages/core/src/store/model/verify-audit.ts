import { type AuditHead, type AuditRow, type AuditStore, hashAuditRecord } from "./audit-log.ts";

interface AuditProblem {
  kind: "edited" | "missing" | "truncated";
  /** The record, or the first of the missing ones. */
  number: number;
  message: string;
}

interface AuditVerification {
  head: AuditHead;
  problems: AuditProblem[];
}

const maxProblems = 20;

/** Follows the chain of hashes from the first record to the head. */
export async function verifyAudit(
  store: Pick<AuditStore, "head" | "readRowsFrom">,
): Promise<AuditVerification> {
  const problems: AuditProblem[] = [];
  let previous: AuditHead = { count: 0, hash: null };
  for (;;) {
    const rows = await store.readRowsFrom(previous.count + 1);
    for (const row of rows) {
      problems.push(...checkRow(row, previous));
      previous = { count: row.number, hash: row.hash };
    }
    if (problems.length >= maxProblems) break;
    if (rows.length > 0) continue;
    const head = await store.head();
    // A fleet may have appended a record after the page was read.
    if (head.count > previous.count && (await store.readRowsFrom(previous.count + 1)).length > 0)
      continue;
    return {
      head,
      /* defence: audit-head */ problems: [...problems, ...checkHead(head, previous)],
    };
  }
  return { head: await store.head(), problems: problems.slice(0, maxProblems) };
}

function checkRow({ number, record, hash }: AuditRow, previous: AuditHead): AuditProblem[] {
  const expected = previous.count + 1;
  const problems: AuditProblem[] = [];
  if (number !== expected) {
    const which = number - 1 === expected ? `${expected} is` : `${expected} to ${number - 1} are`;
    problems.push({ kind: "missing", number: expected, message: `record ${which} missing` });
  }
  const content = parseRecord(record);
  if (content?.number !== number || hashAuditRecord(content) !== hash) {
    problems.push({ kind: "edited", number, message: `record ${number} was edited` });
  } else if (
    number === expected &&
    /* defence: audit-previous-hash */ content.previous_hash !== previous.hash
  ) {
    const message = `record ${number - 1} was replaced: record ${number} refers to a different one`;
    problems.push({ kind: "edited", number: Math.max(1, number - 1), message });
  }
  return problems;
}

function checkHead(head: AuditHead, previous: AuditHead): AuditProblem[] {
  const first = previous.count + 1;
  if (head.count > previous.count) {
    const which = head.count === first ? `record ${first} is` : `records ${first} to ${head.count}`;
    const verb = head.count === first ? "" : " are";
    const message = `the log is truncated: ${which}${verb} missing`;
    return [{ kind: "truncated", number: first, message }];
  }
  if (head.count === previous.count && head.hash === previous.hash) return [];
  const message =
    head.count < previous.count
      ? `the head of the log was changed: it counts ${head.count} of ${previous.count} records`
      : `record ${previous.count} was replaced: the head of the log refers to a different one`;
  return [{ kind: "edited", number: previous.count, message }];
}

function parseRecord(record: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(record);
    return typeof value === "object" && value !== null ? { ...value } : undefined;
  } catch {
    return undefined;
  }
}
