import fc from "fast-check";
import { Webhook } from "standardwebhooks";
import { describe, expect, test } from "vitest";
import { post } from "../../packages/core/src/hooks/post.ts";
import { publicLookup } from "../../packages/core/src/hooks/public-lookup.ts";
import { sendWebhook } from "../../packages/core/src/hooks/webhook.ts";
import { receiver } from "./receiver.ts";

const signal = new AbortController().signal;

describe("addresses", () => {
  test("a name of this machine is refused by the look-up that the connection uses", async () => {
    const error = await new Promise((done) => publicLookup("localhost", {}, done));
    expect(error).toBeInstanceOf(Error);
  });
});

describe("posting", () => {
  test.each([
    (port: number) => `http://127.0.0.1:${port}/`,
    (port: number) => `http://localhost:${port}/`,
    (port: number) => `http://[::1]:${port}/`,
    (port: number) => `http://[::ffff:127.0.0.1]:${port}/`,
    (port: number) => `http://2130706433:${port}/`,
    (port: number) => `http://0x7f.1:${port}/`,
    (port: number) => `http://0:${port}/`,
  ])("a private address is refused however it is written (%#)", async (urlFor) => {
    const { received, port } = await receiver((response) => response.end());
    const result = await post({ url: urlFor(port), body: "{}", allowPrivate: false, signal });
    expect(result).toMatchObject({ ok: false, mayPass: false });
    expect(result.message).toContain("private address");
    expect(received).toEqual([]);
  });

  test("where it is allowed it is used", async () => {
    const { received, url } = await receiver((response) => response.end("thanks"));
    const result = await post({ url, body: '{"a":1}', allowPrivate: true, signal });
    expect(result).toEqual({ ok: true, message: "answered 200", output: "thanks" });
    expect(received[0]).toMatchObject({ body: '{"a":1}' });
  });

  test("a redirect is not followed, wherever it leads", async () => {
    const elsewhere = await receiver((response) => response.end());
    const { url } = await receiver((response) =>
      response.writeHead(307, { location: elsewhere.url }).end(),
    );
    const result = await post({ url, body: "{}", allowPrivate: true, signal });
    expect(result).toMatchObject({ ok: false, mayPass: false });
    expect(elsewhere.received).toEqual([]);
  });

  test.each([
    [400, false],
    [404, false],
    [410, false],
    [408, true],
    [429, true],
    [500, true],
    [503, true],
  ])("%i: worth another attempt? %s", async (status, mayPass) => {
    const { url } = await receiver((response) =>
      response.writeHead(status, { "retry-after": "7" }).end("no"),
    );
    const result = await post({ url, body: "{}", allowPrivate: true, signal });
    expect(result).toMatchObject({ ok: false, mayPass, retryAfter: 7000, output: "no" });
  });

  test("an answer without end is cut off, and so is one that never comes", async () => {
    const endless = await receiver((response) => {
      const timer = setInterval(() => response.write("x".repeat(10_000)), 5);
      response.on("close", () => clearInterval(timer));
    });
    const result = await post({ url: endless.url, body: "{}", allowPrivate: true, signal });
    expect(result.output.length).toBeLessThanOrEqual(2_000);

    const silent = await receiver(() => undefined);
    const limit = new AbortController();
    setTimeout(() => limit.abort("it took longer than 0.2 s"), 200);
    const late = await post({
      url: silent.url,
      body: "{}",
      allowPrivate: true,
      signal: limit.signal,
    });
    expect(late).toMatchObject({ ok: false, mayPass: true, message: "it took longer than 0.2 s" });
  });

  test("who does not listen may listen later", async () => {
    const { url } = await receiver((response) => response.end());
    const gone = url.replace(/:\d+/, ":1");
    const result = await post({ url: gone, body: "{}", allowPrivate: true, signal });
    expect(result).toMatchObject({ ok: false, mayPass: true });
  });
});

describe("a webhook", () => {
  const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
  const hookTo = (url: string, secret_env?: string) => ({
    type: "webhook" as const,
    url,
    secret_env,
    allow_private: true,
    timeout: 1000,
    retry: { max_attempts: 1, backoff: 1 },
  });
  const attempt = (environment: Record<string, string>) =>
    ({
      run: { id: "hook-abc" },
      context: { type: "job.finished", note: "ü" },
      environment,
      signal,
    }) as unknown as Parameters<typeof sendWebhook>[1];

  test("is accepted by the library of Standard Webhooks", async () => {
    const { received, url } = await receiver((response) => response.end());
    const result = await sendWebhook(hookTo(url, "SECRET"), attempt({ SECRET: secret }));
    expect(result.ok).toBe(true);
    const [{ headers, body } = { headers: {}, body: "" }] = received;
    const verified = new Webhook(secret).verify(body, headers as Record<string, string>);
    expect(verified).toMatchObject({ type: "job.finished", note: "ü" });
    expect(headers["webhook-id"]).toBe("hook-abc");
    expect(() =>
      new Webhook(secret).verify(body.replace("ü", "u"), headers as Record<string, string>),
    ).toThrow();
  });

  test("any text can be the secret", async () => {
    const { received, url } = await receiver((response) => response.end());
    await fc.assert(
      fc.asyncProperty(fc.stringMatching(/^[!-~]{1,80}$/), async (raw) => {
        received.length = 0;
        await sendWebhook(hookTo(url, "SECRET"), attempt({ SECRET: `!${raw}` }));
        const [{ headers, body } = { headers: {}, body: "" }] = received;
        const webhook = new Webhook(`!${raw}`, { format: "raw" });
        expect(() => webhook.verify(body, headers as Record<string, string>)).not.toThrow();
      }),
      { numRuns: 10 },
    );
  });

  test("without the secret nothing is sent", async () => {
    const { received, url } = await receiver((response) => response.end());
    const result = await sendWebhook(hookTo(url, "SECRET"), attempt({}));
    expect(result).toMatchObject({ ok: false, mayPass: false });
    expect(result.message).toContain("SECRET is not set");
    expect(received).toEqual([]);
  });
});
