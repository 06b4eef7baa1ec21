import { connectFleet } from "@herdctl/server/client";
import { expect, onTestFinished, test } from "vitest";
import { ask, serve } from "./stage.ts";

const node = {
  id: "node-1",
  name: "desk",
  role: "all" as const,
  labels: ["gpu"],
  capacity: 4,
  running: 1,
  version: "1.0.0",
  status: "live" as const,
  lead: true,
  joined_at: "2026-03-01T12:00:00.000Z",
  heartbeat_at: "2026-03-01T12:00:02.000Z",
  seconds_since_beat: 0.7,
  skew_ms: -3.5,
  config_in_force: true,
  here: true,
};

test("the nodes of a fleet are told over its socket, and by its client", async () => {
  const { fleet, socket } = await serve();
  fleet.nodesThere = [node, { ...node, id: "node-2", status: "lost", skew_ms: null, here: false }];
  const { status, json } = await ask(socket, "GET", "/v1/nodes");
  expect(status).toBe(200);
  expect(json).toEqual({ nodes: fleet.nodesThere });
  const client = await connectFleet(socket);
  onTestFinished(() => client?.close());
  expect(await client?.nodes()).toEqual(fleet.nodesThere);
});
