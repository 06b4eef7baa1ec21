import fc from "fast-check";
import { expect, test } from "vitest";
import { CredentialMask } from "../../packages/core/src/runner/gateway/credential.ts";

const secret = "secret-secret-secret!";

async function masked(parts: Buffer[], mask = new CredentialMask([secret])): Promise<string> {
  const stream = mask.createStream();
  const chunks: Buffer[] = [];
  const read = (async () => {
    for await (const chunk of stream) chunks.push(chunk);
  })();
  for (const part of parts) stream.write(part);
  stream.end();
  await read;
  return Buffer.concat(chunks).toString();
}

test("masks the secret in a text that is split anywhere, and changes nothing else", async () => {
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

test("passes on immediately what cannot be the beginning of the secret", () => {
  const stream = new CredentialMask([secret]).createStream();
  stream.write("hello");
  expect(String(stream.read())).toBe("hello");
  stream.destroy();
});

test.each([undefined, "short"])("masks nothing with %s as the secret", async (value) => {
  const mask = new CredentialMask(value === undefined ? [] : [value]);
  expect(await masked([Buffer.from("a short text")], mask)).toBe("a short text");
  expect(mask.maskText("a short text")).toBe("a short text");
});
