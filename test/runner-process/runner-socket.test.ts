import { once } from "node:events";
import { createConnection, type Socket } from "node:net";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import type { FromRunner, ToRunner } from "../../packages/core/src/runner-process/contract.ts";
import { RunnerSocket } from "../../packages/core/src/runner-process/runner-socket.ts";
import { folderWith } from "../support/folder.ts";

const megabyte = 1024 * 1024;
const stop: ToRunner = { type: "stop", reason: "cancelled", force: false };
const wish = `${JSON.stringify(stop)}\n`;

test("a client whose line has no end is let go before its wish is heard", async () => {
  const { client, heard } = await connected();
  const gone = new Promise((resolve) => client.once("close", () => resolve("let go")));
  const piece = Buffer.alloc(megabyte, "x");
  for (let sent = 0; sent < 80; sent += 1) client.write(piece);
  client.write(`\n${wish}`);
  expect(await Promise.race([gone, heard])).toBe("let go");
});

test("a client that reads nothing is let go before what waits for it costs memory", async () => {
  const { socket, client } = await connected();
  client.pause();
  const line: FromRunner = { type: "hello", job_id: "x".repeat(megabyte), attempt: 1 };
  for (let told = 0; told < 40; told += 1) socket.tell(line);
  let got = 0;
  client.on("data", (data: Buffer) => {
    got += data.length;
    if (got >= 40 * megabyte) client.destroy();
  });
  await once(client.resume(), "close");
  expect(got / megabyte).toBeLessThan(20);
});

test("a client that reads and writes as it should is heard", async () => {
  const { client, heard } = await connected();
  client.write(wish);
  expect(await heard).toEqual(stop);
});

test("what is told last arrives, though the socket is closed at once and the client slow", async () => {
  const { socket, client } = await connected();
  client.pause();
  const line: FromRunner = { type: "hello", job_id: "x".repeat(4 * megabyte), attempt: 1 };
  socket.tell(line);
  socket.close();
  const pieces: Buffer[] = [];
  client.on("data", (data: Buffer) => pieces.push(data));
  await once(client.resume(), "close");
  expect(JSON.parse(Buffer.concat(pieces).toString())).toEqual(line);
});

async function connected(): Promise<{
  socket: RunnerSocket;
  client: Socket;
  heard: Promise<ToRunner>;
}> {
  const path = join(folderWith({}), "runner.sock");
  let hear: (order: ToRunner) => void = () => undefined;
  const heard = new Promise<ToRunner>((resolve) => {
    hear = resolve;
  });
  const greeting: FromRunner = { type: "hello", job_id: "job-1", attempt: 1 };
  const socket = new RunnerSocket(path, {
    greeting: () => [greeting],
    onOrder: (one) => hear(one),
  });
  await socket.open();
  onTestFinished(() => socket.close());
  const client = createConnection(path).on("error", () => undefined);
  onTestFinished(() => void client.destroy());
  await once(client, "data");
  return { socket, client, heard };
}
