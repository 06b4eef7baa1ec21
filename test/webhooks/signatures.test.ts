import { createHmac } from "node:crypto";
import { Webhooks } from "@octokit/webhooks";
import { Webhook } from "standardwebhooks";
import { describe, expect, test } from "vitest";
import { verifySignature } from "../../packages/core/src/triggers/webhook/verify-signature.ts";

type Signature = Parameters<typeof verifySignature>[0];

const now = new Date("2030-01-01T12:00:00Z");
const seconds = now.getTime() / 1000;
const body = Buffer.from('{"a":"ü"}');
const hmac = (secret: string | Buffer, ...parts: (string | Buffer)[]) => {
  const sum = createHmac("sha256", secret);
  for (const part of parts) sum.update(part);
  return sum.digest();
};

function signature(kind: Signature["kind"], more: Partial<Signature> = {}): Signature {
  return { kind, secret_env: "SECRET", algorithm: "sha256", ...more };
}

const slack = (time = seconds, key = "s") => ({
  "x-slack-request-timestamp": String(time),
  "x-slack-signature": `v0=${hmac(key, `v0:${time}:`, body).toString("hex")}`,
});
const key = Buffer.from("a key of thirty-two bytes, or so").toString("base64");
const standard = (time = seconds, id = "msg_1") => ({
  "webhook-id": id,
  "webhook-timestamp": String(time),
  "webhook-signature": `v1,${hmac(Buffer.from(key, "base64"), `${id}.${time}.`, body).toString("base64")}`,
});
const hexSum = hmac("s", body).toString("hex");
const baseSum = hmac("s", body).toString("base64");
const named = signature("hmac", { header: "X-Sum" });

describe("accepted", () => {
  test.each<[string, Signature, string[], Record<string, string>]>([
    ["github", signature("github"), ["s"], { "x-hub-signature-256": `sha256=${hexSum}` }],
    [
      "the second of two secrets",
      signature("github"),
      ["old", "s"],
      { "x-hub-signature-256": `sha256=${hexSum}` },
    ],
    ["slack", signature("slack"), ["s"], slack()],
    ["slack, four minutes old", signature("slack"), ["s"], slack(seconds - 240)],
    ["standard", signature("standard"), [`whsec_${key}`], standard()],
    ["standard, without the prefix", signature("standard"), [key], standard()],
    [
      "standard, one of several",
      signature("standard"),
      [key],
      { ...standard(), "webhook-signature": `v1a,xx v1,AAAA ${standard()["webhook-signature"]}` },
    ],
    ["hmac in hex", named, ["s"], { "x-sum": hexSum }],
    ["hmac in capitals", named, ["s"], { "x-sum": hexSum.toUpperCase() }],
    ["hmac in base64", named, ["s"], { "x-sum": baseSum }],
    ["hmac with its name before it", named, ["s"], { "x-sum": `sha256=${hexSum}` }],
    [
      "hmac with another digest",
      { ...named, algorithm: "sha512" },
      ["s"],
      { "x-sum": createHmac("sha512", "s").update(body).digest("hex") },
    ],
    ["a bearer token", signature("token"), ["s"], { authorization: "Bearer s" }],
    [
      "a token in its own header",
      signature("token", { header: "X-Gitlab-Token" }),
      ["s"],
      { "x-gitlab-token": "s" },
    ],
  ])("%s", (_, kind, secrets, headers) => {
    expect(verifySignature(kind, secrets, { headers, body }, now)).toBeUndefined();
  });
});

describe("refused", () => {
  test.each<[string, Signature, string[], Record<string, string>]>([
    ["no signature", signature("github"), ["s"], {}],
    [
      "another secret",
      signature("github"),
      ["other"],
      { "x-hub-signature-256": `sha256=${hexSum}` },
    ],
    [
      "half a signature",
      signature("github"),
      ["s"],
      { "x-hub-signature-256": `sha256=${hexSum.slice(0, 32)}` },
    ],
    ["an empty signature", signature("github"), ["s"], { "x-hub-signature-256": "sha256=" }],
    [
      "the old digest of github",
      signature("github"),
      ["s"],
      { "x-hub-signature-256": `sha1=${hexSum}` },
    ],
    [
      "two signatures in one header",
      signature("github"),
      ["s"],
      { "x-hub-signature-256": `sha256=${hexSum}, sha256=${hexSum}` },
    ],
    ["slack, six minutes old", signature("slack"), ["s"], slack(seconds - 360)],
    ["slack, six minutes ahead", signature("slack"), ["s"], slack(seconds + 360)],
    [
      "slack, signed for another time",
      signature("slack"),
      ["s"],
      { ...slack(), "x-slack-request-timestamp": String(seconds - 1) },
    ],
    [
      "slack, at no time",
      signature("slack"),
      ["s"],
      { "x-slack-signature": `v0=${hmac("s", "v0:NaN:", body).toString("hex")}` },
    ],
    [
      "standard, for another id",
      signature("standard"),
      [key],
      { ...standard(), "webhook-id": "msg_2" },
    ],
    ["standard, old", signature("standard"), [key], standard(seconds - 301)],
    ["hmac of the wrong header", named, ["s"], { "x-other": hexSum }],
    [
      "a token that only begins right",
      signature("token"),
      ["secret"],
      { authorization: "Bearer secre" },
    ],
    ["no token", signature("token"), ["s"], {}],
  ])("%s", (_, kind, secrets, headers) => {
    expect(verifySignature(kind, secrets, { headers, body }, now)).toMatch(/signature/);
  });

  test("a body that differs in one byte, or is the same only as text", () => {
    const headers = { "x-hub-signature-256": `sha256=${hexSum}` };
    for (const other of ['{"a":"Ü"}', '{"a":"ü"} ', ""]) {
      const signed = { headers, body: Buffer.from(other) };
      expect(verifySignature(signature("github"), ["s"], signed, now)).toBeDefined();
    }
    const broken = Buffer.from([0x22, 0xff, 0x22]);
    const asText = hmac("s", broken.toString()).toString("hex");
    const signed = { headers: { "x-hub-signature-256": `sha256=${asText}` }, body: broken };
    expect(verifySignature(signature("github"), ["s"], signed, now)).toBeDefined();
  });
});

test("what the libraries of GitHub and of Standard Webhooks sign is accepted", async () => {
  const text = body.toString();
  const github = { "x-hub-signature-256": await new Webhooks({ secret: "s" }).sign(text) };
  expect(
    verifySignature(signature("github"), ["s"], { headers: github, body }, now),
  ).toBeUndefined();
  const headers = {
    "webhook-id": "msg_1",
    "webhook-timestamp": String(seconds),
    "webhook-signature": new Webhook(key).sign("msg_1", now, text),
  };
  expect(verifySignature(signature("standard"), [key], { headers, body }, now)).toBeUndefined();
});
