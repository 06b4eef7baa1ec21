import type { SqlValue } from "../sql/sql-program.ts";
import { encodeJson, encodeText } from "./encode-json.ts";

/** A statement for PostgreSQL. */
export interface PostgresStatement {
  /** Name under which a connection keeps it prepared. */
  name: string;
  text: string;
  encode(values: readonly SqlValue[]): SqlValue[];
}

const statementCache = new Map<string, PostgresStatement>();

export function translateStatement(sql: string): PostgresStatement {
  const found = statementCache.get(sql) ?? translate(sql, `herdctl_${statementCache.size + 1}`);
  statementCache.set(sql, found);
  return found;
}

/** Quoted text, or a placeholder with an optional number. */
const placeholderPattern = /'(?:[^']|'')*'|"(?:[^"]|"")*"|\?(\d*)/g;

function translate(sql: string, name: string): PostgresStatement {
  let lastNumber = 0;
  const text = sql.replace(placeholderPattern, (part: string, number: string | undefined) => {
    if (!part.startsWith("?")) return part;
    if (number) return `$${number}`;
    lastNumber += 1;
    return `$${lastNumber}`;
  });
  const records = recordParameters(text);
  const encode = (values: readonly SqlValue[]) =>
    values.map((value, index) => {
      if (typeof value !== "string") return value;
      return records.has(index + 1) ? encodeJson(value) : encodeText(value);
    });
  return { name, text, encode };
}

const insertPattern =
  /INSERT INTO [\w.]+(?: AS \w+)? \(([^)]*)\)\s+VALUES ((?:\([^()]*\)(?:,\s*)?)+)/;

/** The numbers of the parameters that hold JSON for a `record` column. */
function recordParameters(text: string): Set<number> {
  const numbers = [...text.matchAll(/\brecord = \$(\d+)/g)].map(([, number]) => Number(number));
  const [, columns = "", rows = ""] = insertPattern.exec(text) ?? [];
  const recordIndex = columns.split(",").findIndex((column) => column.trim() === "record");
  for (const [, values = ""] of recordIndex < 0 ? [] : rows.matchAll(/\(([^()]*)\)/g)) {
    const number = /^\s*\$(\d+)\s*$/.exec(values.split(",")[recordIndex] ?? "")?.[1];
    if (number) numbers.push(Number(number));
  }
  return new Set(numbers);
}
