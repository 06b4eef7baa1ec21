import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, lstatSync, mkdirSync, readlinkSync, statSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { createApp, serveOnSocket } from "@herdctl/server";
import { expect, onTestFinished, test } from "vitest";
import { tempFolderWith } from "../support/temp-folder.ts";
import { FakeFleet } from "./fake-fleet.ts";
import { connect, sendRequest, startSocketHarness } from "./socket-harness.ts";

async function createFakeFleetApp() {
  const fleet = await FakeFleet.open();
  onTestFinished(() => fleet.close());
  return createApp(fleet);
}

test("creates the socket for this user only and removes it on stop", async () => {
  const { socket, server } = await startSocketHarness();
  expect(statSync(socket).mode & 0o777).toBe(0o600);
  await server.stop();
  expect(existsSync(socket)).toBe(false);
});

test("stops only once", async () => {
  const { server } = await startSocketHarness();
  expect(server.stop()).toBe(server.stop());
  await server.stop();
});

test("replaces the socket of a killed process", async () => {
  const socket = join(tempFolderWith({}), "herdctl.sock");
  const script = `require("net").createServer().listen(${JSON.stringify(socket)}, () => console.log(1))`;
  const child = spawn(process.execPath, ["-e", script], { stdio: ["ignore", "pipe", "inherit"] });
  await once(child.stdout, "data");
  child.kill("SIGKILL");
  await once(child, "exit");
  expect(existsSync(socket)).toBe(true);
  const server = await serveOnSocket(await createFakeFleetApp(), socket);
  onTestFinished(() => server.stop());
  expect(statSync(socket).mode & 0o777).toBe(0o600);
  expect((await sendRequest(socket, "GET", "/v1/ping")).status).toBe(200);
});

test("leaves a socket with a live server alone", async () => {
  const { socket } = await startSocketHarness();
  const second = serveOnSocket(await createFakeFleetApp(), socket);
  await expect(second).rejects.toMatchObject({ code: "address_in_use" });
  expect((await sendRequest(socket, "GET", "/v1/ping")).status).toBe(200);
});

test("does not remove a file that is not a socket", async () => {
  const file = join(tempFolderWith({ "herdctl.sock": "precious" }), "herdctl.sock");
  await expect(serveOnSocket(await createFakeFleetApp(), file)).rejects.toThrow();
  expect(statSync(file).size).toBe(8);
});

test("links a path that is too long for a socket to a short one", async () => {
  const folder = join(tempFolderWith({}), "x".repeat(100));
  mkdirSync(folder);
  const socket = join(folder, "herdctl.sock");
  // Left by an earlier fleet that was killed.
  symlinkSync(join(folder, "dead.sock"), socket);
  const server = await serveOnSocket(await createFakeFleetApp(), socket);
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
