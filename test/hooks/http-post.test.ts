import fc from "fast-check";
import { Webhook } from "standardwebhooks";
import { describe, expect, test } from "vitest";
import { httpPost, publicLookup } from "../../packages/core/src/hooks/http-post.ts";
import { sendWebhook } from "../../packages/core/src/hooks/run-hook.ts";
import { startReceiver } from "./http-receiver.ts";

const signal = new AbortController().signal;

describe("addresses of hooks", () => {
  test("refuses a local host name in the lookup of the connection", async () => {
    const error = await new Promise((done) => publicLookup("localhost", {}, done));
    expect(error).toBeInstanceOf(Error);
  });
});

describe("HTTP requests of hooks", () => {
  test.each([
    (port: number) => `http://127.0.0.1:${port}/`,
    (port: number) => `http://localhost:${port}/`,
    (port: number) => `http://[::1]:${port}/`,
    (port: number) => `http://[::ffff:127.0.0.1]:${port}/`,
    (port: number) => `http://2130706433:${port}/`,
    (port: number) => `http://0x7f.1:${port}/`,
    (port: number) => `http://0:${port}/`,
  ])("refuses a private address in any notation (%#)", async (urlFor) => {
    const { received, port } = await startReceiver((response) => response.end());
    const result = await httpPost({
      url: urlFor(port),
      body: "{}",
      allowPrivateHosts: false,
      signal,
    });
    expect(result).toMatchObject({ ok: false, isTransient: false });
    expect(result.message).toContain("private address");
    expect(received).toEqual([]);
  });

  test("accepts a private address where it is allowed", async () => {
    const { received, url } = await startReceiver((response) => response.end("thanks"));
    const result = await httpPost({ url, body: '{"a":1}', allowPrivateHosts: true, signal });
    expect(result).toEqual({ ok: true, message: "HTTP status 200", output: "thanks" });
    expect(received[0]).toMatchObject({ body: '{"a":1}' });
  });

  test("does not follow a redirect", async () => {
    const elsewhere = await startReceiver((response) => response.end());
    const { url } = await startReceiver((response) =>
      response.writeHead(307, { location: elsewhere.url }).end(),
    );
    const result = await httpPost({ url, body: "{}", allowPrivateHosts: true, signal });
    expect(result).toMatchObject({ ok: false, isTransient: false });
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
  ])("decides for status %i whether to retry: %s", async (status, mayPass) => {
    const { url } = await startReceiver((response) =>
      response.writeHead(status, { "retry-after": "7" }).end("no"),
    );
    const result = await httpPost({ url, body: "{}", allowPrivateHosts: true, signal });
    expect(result).toMatchObject({
      ok: false,
      isTransient: mayPass,
      retryAfterMs: 7000,
      output: "no",
    });
  });

  test("cuts off an endless answer and one that never comes", async () => {
    const endless = await startReceiver((response) => {
      const timer = setInterval(() => response.write("x".repeat(10_000)), 5);
      response.on("close", () => clearInterval(timer));
    });
    const result = await httpPost({
      url: endless.url,
      body: "{}",
      allowPrivateHosts: true,
      signal,
    });
    expect(result.output.length).toBeLessThanOrEqual(2_000);

    const silent = await startReceiver(() => undefined);
    const limit = new AbortController();
    setTimeout(() => limit.abort("it took longer than 0.2 s"), 200);
    const late = await httpPost({
      url: silent.url,
      body: "{}",
      allowPrivateHosts: true,
      signal: limit.signal,
    });
    expect(late).toMatchObject({
      ok: false,
      isTransient: true,
      message: "it took longer than 0.2 s",
    });
  });

  test("retries when no server listens", async () => {
    const { url } = await startReceiver((response) => response.end());
    const gone = url.replace(/:\d+/, ":1");
    const result = await httpPost({ url: gone, body: "{}", allowPrivateHosts: true, signal });
    expect(result).toMatchObject({ ok: false, isTransient: true });
  });
});

describe("signature of a webhook", () => {
  const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
  const hookTo = (url: string, secret_env?: string) => ({
    type: "webhook" as const,
    url,
    headers: {},
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

  test("signs requests so that the Standard Webhooks library accepts them", async () => {
    const { received, url } = await startReceiver((response) => response.end());
    const result = await sendWebhook(hookTo(url, "SECRET"), attempt({ SECRET: secret }));
    expect(result.ok).toBe(true);
    const [request] = received;
    const { headers = {}, body = "" } = request ?? {};
    const verified = new Webhook(secret).verify(body, headers as Record<string, string>);
    expect(verified).toMatchObject({ type: "job.finished", note: "ü" });
    expect(headers["webhook-id"]).toBe("hook-abc");
    expect(() =>
      new Webhook(secret).verify(body.replace("ü", "u"), headers as Record<string, string>),
    ).toThrow();
  });

  test("accepts any text as the secret", async () => {
    const { received, url } = await startReceiver((response) => response.end());
    await fc.assert(
      fc.asyncProperty(fc.stringMatching(/^[!-~]{1,80}$/), async (raw) => {
        received.length = 0;
        await sendWebhook(hookTo(url, "SECRET"), attempt({ SECRET: `!${raw}` }));
        const [request] = received;
        const { headers = {}, body = "" } = request ?? {};
        const webhook = new Webhook(`!${raw}`, { format: "raw" });
        expect(() => webhook.verify(body, headers as Record<string, string>)).not.toThrow();
      }),
      { numRuns: 10 },
    );
  });

  test("sends nothing without the secret", async () => {
    const { received, url } = await startReceiver((response) => response.end());
    const result = await sendWebhook(hookTo(url, "SECRET"), attempt({}));
    expect(result).toMatchObject({ ok: false, isTransient: false });
    expect(result.message).toContain("SECRET is not set");
    expect(received).toEqual([]);
  });
});
