import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { request } from "node:http";
import { createServer } from "node:https";
import { type AddressInfo, connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { UserError } from "@herdctl/protocol";
import { expect, onTestFinished, test } from "vitest";
import { startGateway } from "../../packages/core/src/runner/gateway/gateway.ts";
import {
  realKey,
  sendMessage,
  startGatewayTo,
  startUpstream,
  waitUntil,
} from "./upstream-stand-in.ts";

function tempSocketFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "herdctl-gateway-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Sends raw bytes and returns the answer. */
function sendRaw(gateway: { baseUrl: string }, text: string): Promise<string> {
  const socket = connect(Number(new URL(gateway.baseUrl).port), "127.0.0.1");
  let answer = "";
  socket.setEncoding("utf8").on("data", (part) => {
    answer += part;
  });
  socket.write(text);
  return new Promise((resolve, reject) => {
    socket.once("close", () => resolve(answer));
    socket.once("error", reject);
  });
}

test("replaces the placeholder by the real key", async () => {
  const api = await startUpstream((_, response) => response.end("{}"));
  const gateway = await startGatewayTo(api.url);
  expect((await sendMessage(gateway, { path: "/v1/messages?beta=true" })).status).toBe(200);
  expect(api.seen[0]?.headers["x-api-key"]).toBe(realKey);
  expect(api.seen[0]?.url).toBe("/v1/messages?beta=true");
  expect(JSON.stringify(api.seen[0]?.rawHeaders)).not.toContain(gateway.placeholder);
});

test("sends a token as a bearer, and accepts a bearer placeholder", async () => {
  const api = await startUpstream((_, response) => response.end("{}"));
  const gateway = await startGatewayTo(api.url, {
    credential: { kind: "auth_token", value: realKey },
  });
  const headers = { authorization: `Bearer ${gateway.placeholder}` };
  const response = await fetch(`${gateway.baseUrl}/v1/models`, { headers });
  expect(response.status).toBe(200);
  expect(api.seen[0]?.headers.authorization).toBe(`Bearer ${realKey}`);
  expect(api.seen[0]?.headers["x-api-key"]).toBeUndefined();
});

test("requires the client's own credential with passthrough and keeps it", async () => {
  const api = await startUpstream((_, response) => response.end("{}"));
  const gateway = await startGatewayTo(api.url, { credential: { kind: "passthrough" } });
  const headers = { authorization: "Bearer own-token" };
  await fetch(`${gateway.baseUrl}/v1/models`, { headers });
  expect(api.seen[0]?.headers.authorization).toBe("Bearer own-token");
  expect((await fetch(`${gateway.baseUrl}/v1/models`)).status).toBe(401);
  expect(api.seen).toHaveLength(1);
});

test.each([
  ["a wrong one", "herdctl-wrong"],
  ["the real key itself", realKey],
  ["an empty one", ""],
])("refuses a request with %s as the key with an error in the API's format", async (_, key) => {
  const api = await startUpstream((_, response) => response.end("{}"));
  const gateway = await startGatewayTo(api.url);
  const response = await sendMessage(gateway, { key });
  expect(response.status).toBe(401);
  expect(await response.json()).toMatchObject({
    type: "error",
    error: { type: "authentication_error" },
  });
  expect(api.seen).toHaveLength(0);
  expect(gateway.meter().refusals).toMatchObject([{ status: 401, target: "/v1/messages" }]);
});

test.each([
  "POST /v1/files",
  "POST /v1/messages/batches",
  "GET /v1/messages",
  "POST /v1/messages/",
  "POST //v1/messages",
  "POST /v1/messages/../files",
  "POST /v1/messages%2f..%2ffiles",
  "POST /V1/messages",
  "GET /v1/models/..",
  "GET /v1/models/a/b",
  "GET /",
  "DELETE /v1/messages",
])("refuses and records %s", async (line) => {
  const api = await startUpstream((_, response) => response.end("{}"));
  const gateway = await startGatewayTo(api.url);
  const head = `${line} HTTP/1.1\r\nhost: x\r\nx-api-key: ${gateway.placeholder}\r\nconnection: close\r\n\r\n`;
  expect(await sendRaw(gateway, head)).toMatch(/^HTTP\/1\.1 404 [\s\S]*not_found_error/);
  expect(api.seen).toHaveLength(0);
  expect(gateway.meter()).toMatchObject({ refused: 1, requests: 0 });
});

test("accepts probes without a key and sends none", async () => {
  const api = await startUpstream((_, response) => response.end());
  const gateway = await startGatewayTo(api.url);
  for (const path of ["/", "/api/hello"]) {
    expect((await fetch(`${gateway.baseUrl}${path}`, { method: "HEAD" })).status).toBe(200);
  }
  expect(api.seen.map((one) => one.headers["x-api-key"])).toEqual([undefined, undefined]);
});

test("accepts an absolute-form target only for the upstream and the gateway itself", async () => {
  const api = await startUpstream((_, response) => response.end("{}"));
  const gateway = await startGatewayTo(`${api.url}/base/`);
  const send = (target: string) =>
    sendRaw(
      gateway,
      `GET ${target} HTTP/1.1\r\nhost: x\r\nx-api-key: ${gateway.placeholder}\r\nconnection: close\r\n\r\n`,
    );
  expect(await send(`${api.url}/v1/models`)).toMatch(/^HTTP\/1\.1 200/);
  expect(await send(`${api.url}/base/v1/models`)).toMatch(/^HTTP\/1\.1 200/);
  expect(await send("http://localhost/v1/models")).toMatch(/^HTTP\/1\.1 200/);
  expect(api.seen.map((one) => one.url)).toEqual(Array(3).fill("/base/v1/models"));

  expect(await send("http://elsewhere.test/v1/models")).toMatch(/^HTTP\/1\.1 403/);
  expect(await send(`http://user@${new URL(api.url).host}/v1/models`)).toMatch(/^HTTP\/1\.1 403/);
  expect(await send("ftp://x/v1/models")).toMatch(/^HTTP\/1\.1 403/);
  expect(api.seen).toHaveLength(3);
});

test("opens no tunnel", async () => {
  const api = await startUpstream((_, response) => response.end());
  const gateway = await startGatewayTo(api.url);
  expect(await sendRaw(gateway, "CONNECT example.test:443 HTTP/1.1\r\nhost: x\r\n\r\n")).toMatch(
    /^HTTP\/1\.1 403/,
  );
  expect(gateway.meter().refusals).toMatchObject([
    { method: "CONNECT", target: "example.test:443" },
  ]);
});

test("removes hop-by-hop headers in both directions", async () => {
  const api = await startUpstream((_, response) => {
    response.setHeader("connection", "x-private, close");
    response.setHeader("x-private", "1");
    response.setHeader("set-cookie", "a=b");
    response.setHeader("request-id", "req_1");
    response.end("{}");
  });
  const gateway = await startGatewayTo(api.url);
  const answer = await sendRaw(
    gateway,
    [
      "GET /v1/models HTTP/1.1",
      "host: gateway",
      `x-api-key: ${gateway.placeholder}`,
      "connection: close, x-hop",
      "x-hop: 1",
      "te: trailers",
      "cookie: c=d",
      "proxy-authorization: Basic x",
      "accept-encoding: gzip",
      "anthropic-version: 2023-06-01",
      "\r\n",
    ].join("\r\n"),
  );
  const { headers } = api.seen[0] ?? {};
  expect(headers).toMatchObject({
    "anthropic-version": "2023-06-01",
    "accept-encoding": "identity",
  });
  expect(headers?.host).toBe(new URL(api.url).host);
  for (const name of ["x-hop", "te", "cookie", "proxy-authorization"]) {
    expect(headers).not.toHaveProperty(name);
  }
  expect(answer).toContain("request-id: req_1");
  expect(answer).not.toMatch(/x-private|set-cookie/);
});

test("restricts a unix socket to its owner and removes it on stop", async () => {
  const api = await startUpstream((_, response) => response.end("{}"));
  const socketPath = join(tempSocketFolder(), "api.sock");
  const gateway = await startGatewayTo(api.url, { socketPath });
  expect(statSync(socketPath).mode & 0o777).toBe(0o600);
  const headers = { "x-api-key": gateway.placeholder };
  const status = await new Promise((resolve) => {
    request({ socketPath, path: "/v1/models", headers, agent: false }, (response) => {
      response.resume();
      resolve(response.statusCode);
    }).end();
  });
  expect(status).toBe(200);
  await Promise.all([gateway.stop(), gateway.stop()]);
  await gateway.stop();
  expect(existsSync(socketPath)).toBe(false);
});

test("reaches an upstream on a unix socket", async () => {
  const path = join(tempSocketFolder(), "up.sock");
  const api = await startUpstream((_, response) => response.end("{}"), { path });
  const gateway = await startGatewayTo("https://api.test/", { upstreamSocket: path });
  expect((await sendMessage(gateway)).status).toBe(200);
  expect(api.seen[0]?.headers.host).toBe("api.test");
});

test("reports a socket path that is too long", async () => {
  const socketPath = `/tmp/${"x".repeat(103)}`;
  await expect(startGatewayTo("http://127.0.0.1:1", { socketPath })).rejects.toThrow(UserError);
});

test("reports a socket that is in use", async () => {
  const socketPath = join(tempSocketFolder(), "api.sock");
  await startGatewayTo("http://127.0.0.1:1", { socketPath });
  await expect(startGatewayTo("http://127.0.0.1:1", { socketPath })).rejects.toMatchObject({
    code: "address_in_use",
  });
});

test.each(["not an address", "ftp://x", "https://user:secret-word@api.test"])(
  "refuses the address %s without showing it",
  async (upstream) => {
    const failure = await startGateway({
      upstream,
      credential: { kind: "passthrough" },
      socketPath: join(tempSocketFolder(), "api.sock"),
    }).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(UserError);
    expect(String(failure)).not.toContain("secret-word");
  },
);

test.each(["", "a-key-with-a-line-break\n", "two words"])(
  "reports the credential %j without showing it",
  async (value) => {
    const credential = { kind: "api_key", value } as const;
    const failure = await startGatewayTo("http://127.0.0.1:1", { credential }).catch(
      (error) => error,
    );
    expect(failure).toBeInstanceOf(UserError);
    expect(`${failure.message}${failure.hint}`).not.toContain("a-key-with");
  },
);

test("reaches a TLS upstream only with a valid certificate", async () => {
  const file = (name: string) => readFileSync(new URL(`fixtures/${name}`, import.meta.url));
  const api = createServer({ key: file("key.pem"), cert: file("cert.pem") }, (_, response) => {
    response.end("over TLS");
  });
  await new Promise<void>((resolve) => api.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    delete process.env.NODE_TLS_REJECT_UNAUTHORIZED;
    api.closeAllConnections();
    api.close();
  });
  const gateway = await startGatewayTo(`https://localhost:${(api.address() as AddressInfo).port}`);
  const doubted = await sendMessage(gateway);
  expect([doubted.status, await doubted.text()]).toEqual([
    502,
    expect.stringMatching(/SELF_SIGNED/),
  ]);
  process.env.NODE_TLS_REJECT_UNAUTHORIZED = "0";
  expect(await (await sendMessage(gateway)).text()).toBe("over TLS");
});

test("answers 502 in the API's format when the upstream cannot be reached, and meters it", async () => {
  const gone = await startUpstream((_, response) => response.end());
  const { url, server } = gone;
  await new Promise((resolve) => server.close(resolve));
  const gateway = await startGatewayTo(url);
  const response = await sendMessage(gateway);
  expect(response.status).toBe(502);
  expect(await response.text()).toMatch(/ECONNREFUSED/);
  await waitUntil(() => gateway.meter().open === 0);
});
