import { UserError } from "@herdctl/protocol";

const defaultLimit = 50;
const maxLimit = 1000;

/** How many records a page has at most. */
export function pageLimit({ limit = defaultLimit }: { limit?: number }): number {
  if (Number.isInteger(limit) && limit >= 1 && limit <= maxLimit) return limit;
  throw new UserError("usage", `a page has 1 to ${maxLimit} records, not ${limit}`, {
    hint: `Choose a \`limit\` from 1 to ${maxLimit}.`,
  });
}

/** A cursor is the sort key of the last record of a page. Callers must not depend on its content. */
export function writeCursor(...sortKey: readonly unknown[]): string {
  return Buffer.from(JSON.stringify(sortKey)).toString("base64url");
}

/** The sort key in a cursor. `shape` tells the type of each of its parts. */
export function readCursor(
  cursor: string,
  ...shape: readonly ("text" | "integer")[]
): (string | number)[] {
  const parts = parseParts(cursor);
  const isValid =
    parts?.length === shape.length &&
    shape.every((type, index) => (type === "text" ? isText(parts[index]) : isIndex(parts[index])));
  if (isValid) return parts;
  throw new UserError("usage", `${JSON.stringify(cursor)} is not a valid cursor`, {
    hint: "Use the `next_cursor` of the previous page.",
  });
}

function parseParts(cursor: string): (string | number)[] | undefined {
  try {
    const parts: unknown = JSON.parse(Buffer.from(cursor, "base64url").toString());
    return Array.isArray(parts) ? parts : undefined;
  } catch {
    return undefined;
  }
}

function isText(part: unknown): boolean {
  return typeof part === "string" && !part.includes("\0");
}

function isIndex(part: unknown): boolean {
  return Number.isSafeInteger(part) && Number(part) >= 0;
}
