import { connect as openConnection } from "node:net";
import { text } from "node:stream/consumers";
import { expect, test } from "vitest";
import { bearer, startHttpHarness } from "./http-harness.ts";
import { startSocketHarness } from "./socket-harness.ts";

type Address = { path: string } | { host: string; port: number };

/** Sends the bytes as they are: HTTP libraries add a `content-length` where there is none. */
async function sendRaw(
  address: Address,
  request: string,
  headers: Record<string, string>,
  body = "",
): Promise<{ status: number; text: string }> {
  const all = { host: "127.0.0.1", connection: "close", ...headers };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  const connection = openConnection(address);
  connection.write(`${request} HTTP/1.1\r\n${lines.join("")}\r\n${body}`);
  const answer = await text(connection);
  return { status: Number(answer.split(" ")[1]), text: answer.split("\r\n\r\n")[1] ?? "" };
}

/** A chunked body in two pieces. */
function chunked(body: string): string {
  const pieces = [body.slice(0, 5), body.slice(5)].filter((piece) => piece !== "");
  const chunks = pieces.map((piece) => `${Buffer.byteLength(piece).toString(16)}\r\n${piece}\r\n`);
  return `${chunks.join("")}0\r\n\r\n`;
}

const chunkedJson = { "transfer-encoding": "chunked", "content-type": "application/json" };

test("accepts requests without a content-length on the socket", async () => {
  const { fleet, socket, bugs } = await startSocketHarness();
  const { job } = await fleet.jobs.trigger({ agent: "coder" });
  const address = { path: socket };
  expect(await sendRaw(address, "POST /v1/reload", {})).toMatchObject({ status: 204 });
  expect(await sendRaw(address, `POST /v1/jobs/${job.id}/cancel`, {})).toMatchObject({
    status: 200,
    text: expect.stringContaining(`"status":"cancelled"`),
  });
  const body = chunked('{"agent":"writer","prompt":"Grüße"}');
  expect(await sendRaw(address, "POST /v1/jobs", chunkedJson, body)).toMatchObject({
    status: 200,
    text: expect.stringContaining('"prompt":"Grüße"'),
  });
  expect(await sendRaw(address, "POST /v1/reload", chunkedJson, chunked(""))).toMatchObject({
    status: 204,
  });
  expect(bugs).toEqual([]);
});

test("accepts requests without a content-length on the port", async () => {
  const { port, token, fleet } = await startHttpHarness();
  const address = { host: "127.0.0.1", port };
  const host = { host: `127.0.0.1:${port}` };
  const authorized = { ...host, ...bearer(token) };
  expect(await sendRaw(address, "POST /v1/reload", authorized)).toMatchObject({ status: 204 });
  const body = chunked('{"agent":"coder"}');
  const headers = { ...authorized, ...chunkedJson };
  expect(await sendRaw(address, "POST /v1/jobs", headers, body)).toMatchObject({ status: 200 });
  expect((await fleet.jobs.list()).jobs).toHaveLength(1);
  const tokenPath = "DELETE /v1/tokens/none";
  expect(await sendRaw(address, tokenPath, authorized)).toMatchObject({ status: 404 });
  expect(await sendRaw(address, "POST /login", host)).toMatchObject({ status: 401 });
});
