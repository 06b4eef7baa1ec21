import fc from "fast-check";
import { afterAll, expect, test } from "vitest";
import {
  decodeJson,
  decodeText,
  encodeJson,
  encodeText,
} from "../../../packages/core/src/store/postgres/encode-json.ts";
import { createTestDatabase, queryDatabase } from "../../support/postgres.ts";

const server = await createTestDatabase(afterAll);

/** With characters that PostgreSQL refuses, escape marks, and similar text. */
const anyText = fc
  .array(
    fc.oneof(
      fc.string({ unit: "binary" }),
      fc.constantFrom(
        "\0",
        "\uEE00",
        "\uEE000000",
        "\\u0000",
        "\\",
        "\ud800",
        "\udc00",
        "d83d",
        "\\ud83d",
      ),
      fc.integer({ min: 0, max: 0xffff }).map((code) => String.fromCharCode(code)),
    ),
  )
  .map((parts) => parts.join(""));

test("keeps any text and any JSON", () => {
  fc.assert(
    fc.property(anyText, (text) => {
      expect(decodeText(encodeText(text))).toBe(text);
      const json = JSON.stringify({ [text]: [text] });
      expect(decodeJson(encodeJson(json))).toBe(json);
    }),
    { numRuns: 2_000 },
  );
});

test("matches values extracted from a record with search values", () => {
  fc.assert(
    fc.property(anyText, (text) => {
      const record = JSON.parse(encodeJson(JSON.stringify({ text })));
      expect(record.text).toBe(encodeText(text));
    }),
    { numRuns: 2_000 },
  );
});

test("stores any value as text and as JSON in PostgreSQL and reads it back", async () => {
  const texts = fc.sample(anyText, 200);
  const rows = await queryDatabase(
    server,
    `SELECT text = json::jsonb ->> 'text' AS same, text, json
     FROM unnest($1::text[], $2::text[]) AS given (text, json)`,
    texts.map(encodeText),
    texts.map((text) => encodeJson(JSON.stringify({ text }))),
  );
  for (const [index, row] of rows.entries()) {
    expect(row.same).toBe(true);
    expect(decodeText(row.text)).toBe(texts[index]);
    expect(JSON.parse(decodeJson(row.json))).toEqual({ text: texts[index] });
  }
});

test("leaves harmless escaped characters unchanged", () => {
  const json = '{"face":"\\ud83d\\ude00","path":"\\\\u0000","line":"\\n"}';
  expect(encodeJson(json)).toBe(json);
});
