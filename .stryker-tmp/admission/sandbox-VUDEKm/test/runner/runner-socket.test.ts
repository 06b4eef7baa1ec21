import { once } from "node:events";
import { createConnection, type Socket } from "node:net";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import type {
  RunnerCommand,
  RunnerMessage,
} from "../../packages/core/src/runner/contract/messages.ts";
import { RunnerSocket } from "../../packages/core/src/runner/process/runner-socket.ts";
import { tempFolderWith } from "../support/temp-folder.ts";

const megabyte = 1024 * 1024;
const stop: RunnerCommand = { type: "stop", reason: "cancelled", force: false };
const stopLine = `${JSON.stringify(stop)}\n`;

test("disconnects a client with an endless line before handling its request", async () => {
  const { client, received } = await connectToRunner();
  const gone = new Promise((resolve) => client.once("close", () => resolve("let go")));
  const piece = Buffer.alloc(megabyte, "x");
  for (let sent = 0; sent < 80; sent += 1) client.write(piece);
  client.write(`\n${stopLine}`);
  expect(await Promise.race([gone, received])).toBe("let go");
});

test("disconnects a client that reads nothing before the backlog costs memory", async () => {
  const { socket, client } = await connectToRunner();
  client.pause();
  const line: RunnerMessage = { type: "hello", job_id: "x".repeat(megabyte), attempt: 1 };
  for (let count = 0; count < 40; count += 1) socket.broadcast(line);
  let got = 0;
  client.on("data", (data: Buffer) => {
    got += data.length;
    if (got >= 40 * megabyte) client.destroy();
  });
  await once(client.resume(), "close");
  expect(got / megabyte).toBeLessThan(20);
});

test("serves a client that reads and writes normally", async () => {
  const { client, received } = await connectToRunner();
  client.write(stopLine);
  expect(await received).toEqual(stop);
});

test("delivers the last message although the socket is closed immediately and the client is slow", async () => {
  const { socket, client } = await connectToRunner();
  client.pause();
  const line: RunnerMessage = { type: "hello", job_id: "x".repeat(4 * megabyte), attempt: 1 };
  socket.broadcast(line);
  socket.close();
  const pieces: Buffer[] = [];
  client.on("data", (data: Buffer) => pieces.push(data));
  await once(client.resume(), "close");
  expect(JSON.parse(Buffer.concat(pieces).toString())).toEqual(line);
});

async function connectToRunner(): Promise<{
  socket: RunnerSocket;
  client: Socket;
  received: Promise<RunnerCommand>;
}> {
  const path = join(tempFolderWith({}), "runner.sock");
  let onCommand: (order: RunnerCommand) => void = () => undefined;
  const received = new Promise<RunnerCommand>((resolve) => {
    onCommand = resolve;
  });
  const greeting: RunnerMessage = { type: "hello", job_id: "job-1", attempt: 1 };
  const socket = new RunnerSocket(path, {
    initialMessages: () => [greeting],
    onCommand: (one) => onCommand(one),
  });
  await socket.open();
  onTestFinished(() => socket.close());
  const client = createConnection(path).on("error", () => undefined);
  onTestFinished(() => void client.destroy());
  await once(client, "data");
  return { socket, client, received };
}
