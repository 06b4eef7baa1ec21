import type { Value } from "../sql/steps.ts";
import { encodeJson, encodeText } from "./encode-json.ts";

/** A statement as PostgreSQL takes it. */
export interface Statement {
  /** Under which a connection keeps it prepared. */
  name: string;
  text: string;
  encode(values: readonly Value[]): Value[];
}

const known = new Map<string, Statement>();

export function statementOf(sql: string): Statement {
  const found = known.get(sql) ?? translate(sql, `herdctl_${known.size + 1}`);
  known.set(sql, found);
  return found;
}

/** Text in quotes, or a placeholder with or without its number. */
const parts = /'(?:[^']|'')*'|"(?:[^"]|"")*"|\?(\d*)/g;

function translate(sql: string, name: string): Statement {
  let last = 0;
  const text = sql.replace(parts, (part: string, number: string | undefined) => {
    if (!part.startsWith("?")) return part;
    if (number) return `$${number}`;
    last += 1;
    return `$${last}`;
  });
  const records = recordsOf(text);
  const encode = (values: readonly Value[]) =>
    values.map((value, index) => {
      if (typeof value !== "string") return value;
      return records.has(index + 1) ? encodeJson(value) : encodeText(value);
    });
  return { name, text, encode };
}

const insert = /INSERT INTO [\w.]+(?: AS \w+)? \(([^)]*)\)\s+VALUES ((?:\([^()]*\)(?:,\s*)?)+)/;

/** Which of the values are JSON that the database itself looks into: those for `record`. */
function recordsOf(text: string): Set<number> {
  const numbers = [...text.matchAll(/\brecord = \$(\d+)/g)].map(([, number]) => Number(number));
  const [, columns = "", rows = ""] = insert.exec(text) ?? [];
  const place = columns.split(",").findIndex((column) => column.trim() === "record");
  for (const [, values = ""] of place < 0 ? [] : rows.matchAll(/\(([^()]*)\)/g)) {
    const number = /^\s*\$(\d+)\s*$/.exec(values.split(",")[place] ?? "")?.[1];
    if (number) numbers.push(Number(number));
  }
  return new Set(numbers);
}
