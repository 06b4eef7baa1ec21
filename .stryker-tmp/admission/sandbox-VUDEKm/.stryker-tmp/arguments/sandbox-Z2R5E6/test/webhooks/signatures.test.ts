import { createHmac } from "node:crypto";
import { Webhooks } from "@octokit/webhooks";
import { Webhook } from "standardwebhooks";
import { describe, expect, test } from "vitest";
import { verifySignature } from "../../packages/core/src/triggers/webhooks/verify-signature.ts";

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

const slackHeaders = (time = seconds, key = "s") => ({
  "x-slack-request-timestamp": String(time),
  "x-slack-signature": `v0=${hmac(key, `v0:${time}:`, body).toString("hex")}`,
});
const key = Buffer.from("a key of thirty-two bytes, or so").toString("base64");
const standardHeaders = (time = seconds, id = "msg_1") => ({
  "webhook-id": id,
  "webhook-timestamp": String(time),
  "webhook-signature": `v1,${hmac(Buffer.from(key, "base64"), `${id}.${time}.`, body).toString("base64")}`,
});
const hexSum = hmac("s", body).toString("hex");
const baseSum = hmac("s", body).toString("base64");
const hmacSignature = signature("hmac", { header: "X-Sum" });

describe("accepted signatures", () => {
  test.each<[string, Signature, string[], Record<string, string>]>([
    ["accepts github", signature("github"), ["s"], { "x-hub-signature-256": `sha256=${hexSum}` }],
    [
      "accepts the second of two secrets",
      signature("github"),
      ["old", "s"],
      { "x-hub-signature-256": `sha256=${hexSum}` },
    ],
    ["accepts slack", signature("slack"), ["s"], slackHeaders()],
    ["accepts slack, four minutes old", signature("slack"), ["s"], slackHeaders(seconds - 240)],
    ["accepts standard", signature("standard"), [`whsec_${key}`], standardHeaders()],
    ["accepts standard without the prefix", signature("standard"), [key], standardHeaders()],
    [
      "accepts standard, one of several",
      signature("standard"),
      [key],
      {
        ...standardHeaders(),
        "webhook-signature": `v1a,xx v1,AAAA ${standardHeaders()["webhook-signature"]}`,
      },
    ],
    ["accepts hmac in hex", hmacSignature, ["s"], { "x-sum": hexSum }],
    ["accepts hmac in capitals", hmacSignature, ["s"], { "x-sum": hexSum.toUpperCase() }],
    ["accepts hmac in base64", hmacSignature, ["s"], { "x-sum": baseSum }],
    ["accepts hmac with a name prefix", hmacSignature, ["s"], { "x-sum": `sha256=${hexSum}` }],
    [
      "accepts hmac with another digest",
      { ...hmacSignature, algorithm: "sha512" },
      ["s"],
      { "x-sum": createHmac("sha512", "s").update(body).digest("hex") },
    ],
    ["accepts a bearer token", signature("token"), ["s"], { authorization: "Bearer s" }],
    [
      "accepts a token in its own header",
      signature("token", { header: "X-Gitlab-Token" }),
      ["s"],
      { "x-gitlab-token": "s" },
    ],
  ])("%s", (_, kind, secrets, headers) => {
    expect(verifySignature(kind, secrets, { headers, body }, now)).toBeUndefined();
  });
});

describe("refused signatures", () => {
  test.each<[string, Signature, string[], Record<string, string>]>([
    ["refuses a missing signature", signature("github"), ["s"], {}],
    [
      "refuses another secret",
      signature("github"),
      ["other"],
      { "x-hub-signature-256": `sha256=${hexSum}` },
    ],
    [
      "refuses half a signature",
      signature("github"),
      ["s"],
      { "x-hub-signature-256": `sha256=${hexSum.slice(0, 32)}` },
    ],
    [
      "refuses an empty signature",
      signature("github"),
      ["s"],
      { "x-hub-signature-256": "sha256=" },
    ],
    [
      "refuses the old digest of github",
      signature("github"),
      ["s"],
      { "x-hub-signature-256": `sha1=${hexSum}` },
    ],
    [
      "refuses two signatures in one header",
      signature("github"),
      ["s"],
      { "x-hub-signature-256": `sha256=${hexSum}, sha256=${hexSum}` },
    ],
    ["refuses slack, six minutes old", signature("slack"), ["s"], slackHeaders(seconds - 360)],
    ["refuses slack, six minutes ahead", signature("slack"), ["s"], slackHeaders(seconds + 360)],
    [
      "refuses slack, signed for another time",
      signature("slack"),
      ["s"],
      { ...slackHeaders(), "x-slack-request-timestamp": String(seconds - 1) },
    ],
    [
      "refuses slack without a time",
      signature("slack"),
      ["s"],
      { "x-slack-signature": `v0=${hmac("s", "v0:NaN:", body).toString("hex")}` },
    ],
    [
      "refuses standard for another id",
      signature("standard"),
      [key],
      { ...standardHeaders(), "webhook-id": "msg_2" },
    ],
    ["refuses standard, old", signature("standard"), [key], standardHeaders(seconds - 301)],
    ["refuses hmac in the wrong header", hmacSignature, ["s"], { "x-other": hexSum }],
    [
      "refuses a token with only the right prefix",
      signature("token"),
      ["secret"],
      { authorization: "Bearer secre" },
    ],
    ["refuses a missing token", signature("token"), ["s"], {}],
  ])("%s", (_, kind, secrets, headers) => {
    expect(verifySignature(kind, secrets, { headers, body }, now)).toMatch(/signature/);
  });

  test("refuses a body that differs in one byte or only has equal text", () => {
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

test("accepts what the libraries of GitHub and Standard Webhooks sign", async () => {
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
