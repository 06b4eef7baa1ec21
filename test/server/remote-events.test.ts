import { setTimeout as delay } from "node:timers/promises";
import type { FleetEvent } from "@herdctl/protocol";
import { expect, test } from "vitest";
import { RemoteEvents } from "../../packages/protocol/src/client/remote-events.ts";

const problem = (message: string): FleetEvent => ({
  type: "fleet:problem",
  message,
  at: "2026-03-01T09:00:00.000Z",
});

test("continues with the events of the next fleet process after a restart", async () => {
  let opened = 0;
  const events = new RemoteEvents(async function* () {
    opened += 1;
    if (opened === 2) throw new Error("not listening");
    yield problem(`process ${opened}`);
    if (opened === 1) throw new Error("closed the connection");
  }, 1);
  const seen: string[] = [];
  const off = events.on("fleet:problem", ({ message }) => {
    seen.push(message);
    if (seen.length === 2) off();
  });
  await expect.poll(() => seen).toEqual(["process 1", "process 3"]);
  await delay(20);
  expect(opened).toBe(3);
});

test("opens no stream again after `close`", async () => {
  let opened = 0;
  const events = new RemoteEvents(async function* () {
    opened += 1;
    yield problem("once");
  }, 1);
  events.on("fleet:problem", () => events.close());
  await delay(20);
  expect(opened).toBe(1);
});
