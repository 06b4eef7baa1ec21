import fc from "fast-check";
import { expect, test } from "vitest";
import { Mask } from "../../packages/core/src/gateway/mask.ts";

const secret = "secret-secret-secret!";

async function masked(parts: Buffer[], mask = new Mask(secret)): Promise<string> {
  const stream = mask.stream();
  const chunks: Buffer[] = [];
  const read = (async () => {
    for await (const chunk of stream) chunks.push(chunk);
  })();
  for (const part of parts) stream.write(part);
  stream.end();
  await read;
  return Buffer.concat(chunks).toString();
}

test("however a text is cut, the secret is starred and nothing else changes", async () => {
  const piece = fc.oneof(
    fc.constantFrom(secret, "secret-", "secret-secret-", "!", "ü"),
    fc.string(),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(piece), fc.array(fc.nat()), async (pieces, cuts) => {
      const text = pieces.join("");
      const bytes = Buffer.from(text);
      const places = cuts.map((cut) => cut % (bytes.length + 1)).sort((a, b) => a - b);
      const parts = [0, ...places].map((from, index) => bytes.subarray(from, places[index]));
      const stars = "*".repeat(secret.length);
      expect(await masked(parts)).toBe(text.replaceAll(secret, stars));
    }),
    { numRuns: 300 },
  );
});

test("what cannot be the beginning of the secret is passed on at once", () => {
  const stream = new Mask(secret).stream();
  stream.write("hello");
  expect(String(stream.read())).toBe("hello");
  stream.destroy();
});

test.each([undefined, "short"])("with %s for a secret nothing is starred", async (value) => {
  const mask = new Mask(value);
  expect(await masked([Buffer.from("a short text")], mask)).toBe("a short text");
  expect(mask.text("a short text")).toBe("a short text");
});
