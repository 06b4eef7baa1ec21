import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, lstatSync, mkdirSync, readlinkSync, statSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { createApp, serveOnSocket } from "@herdctl/server";
import { expect, onTestFinished, test } from "vitest";
import { folderWith } from "../support/folder.ts";
import { SmallFleet } from "./small-fleet.ts";
import { ask, connect, serve } from "./stage.ts";

async function smallApp() {
  const fleet = await SmallFleet.open();
  onTestFinished(() => fleet.close());
  return createApp(fleet);
}

test("the socket is for this user alone, and gone after the stop", async () => {
  const { socket, server } = await serve();
  expect(statSync(socket).mode & 0o777).toBe(0o600);
  await server.stop();
  expect(existsSync(socket)).toBe(false);
});

test("stopping twice is stopping once", async () => {
  const { server } = await serve();
  expect(server.stop()).toBe(server.stop());
  await server.stop();
});

test("a socket left behind by a killed process is replaced", async () => {
  const socket = join(folderWith({}), "herdctl.sock");
  const script = `require("net").createServer().listen(${JSON.stringify(socket)}, () => console.log(1))`;
  const child = spawn(process.execPath, ["-e", script], { stdio: ["ignore", "pipe", "inherit"] });
  await once(child.stdout, "data");
  child.kill("SIGKILL");
  await once(child, "exit");
  expect(existsSync(socket)).toBe(true);
  const server = await serveOnSocket(await smallApp(), socket);
  onTestFinished(() => server.stop());
  expect(statSync(socket).mode & 0o777).toBe(0o600);
  expect((await ask(socket, "GET", "/v1/ping")).status).toBe(200);
});

test("a socket where somebody answers is left to him", async () => {
  const { socket } = await serve();
  const second = serveOnSocket(await smallApp(), socket);
  await expect(second).rejects.toMatchObject({ code: "address_in_use" });
  expect((await ask(socket, "GET", "/v1/ping")).status).toBe(200);
});

test("what is no socket is not taken away", async () => {
  const file = join(folderWith({ "herdctl.sock": "precious" }), "herdctl.sock");
  await expect(serveOnSocket(await smallApp(), file)).rejects.toThrow();
  expect(statSync(file).size).toBe(8);
});

test("at a path too long for a socket there is a link to a short one", async () => {
  const folder = join(folderWith({}), "x".repeat(100));
  mkdirSync(folder);
  const socket = join(folder, "herdctl.sock");
  // Left behind by an earlier fleet that was killed.
  symlinkSync(join(folder, "dead.sock"), socket);
  const server = await serveOnSocket(await smallApp(), socket);
  onTestFinished(() => server.stop());
  const short = readlinkSync(socket);
  expect(statSync(short).mode & 0o777).toBe(0o600);
  expect(statSync(dirname(short)).mode & 0o777).toBe(0o700);
  const client = await connect(socket);
  expect((await client.status()).fleet.name).toBe("small");
  await server.stop();
  expect(existsSync(short)).toBe(false);
  expect(() => lstatSync(socket)).toThrow();
});
