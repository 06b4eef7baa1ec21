import fc from "fast-check";
import { afterAll, expect, test } from "vitest";
import {
  decodeJson,
  decodeText,
  encodeJson,
  encodeText,
} from "../../../packages/core/src/state/postgres/encode-json.ts";
import { ask, testDatabase } from "../../support/postgres.ts";

const server = await testDatabase(afterAll);

/** With what PostgreSQL refuses, what marks it, and what only looks like either. */
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

test("any text survives, and so does any JSON", () => {
  fc.assert(
    fc.property(anyText, (text) => {
      expect(decodeText(encodeText(text))).toBe(text);
      const json = JSON.stringify({ [text]: [text] });
      expect(decodeJson(encodeJson(json))).toBe(json);
    }),
    { numRuns: 2_000 },
  );
});

test("what is read out of a record meets what is searched for", () => {
  fc.assert(
    fc.property(anyText, (text) => {
      const record = JSON.parse(encodeJson(JSON.stringify({ text })));
      expect(record.text).toBe(encodeText(text));
    }),
    { numRuns: 2_000 },
  );
});

test("PostgreSQL takes it, as text and as JSON, and reads the same out of both", async () => {
  const texts = fc.sample(anyText, 200);
  const rows = await ask(
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

test("an escaped character that is no trouble stays as it is", () => {
  const json = '{"face":"\\ud83d\\ude00","path":"\\\\u0000","line":"\\n"}';
  expect(encodeJson(json)).toBe(json);
});
