import { connectFleet } from "@herdctl/protocol/client";
import { expect, onTestFinished, test } from "vitest";
import { sendRequest, startSocketHarness } from "./socket-harness.ts";

const node = {
  id: "node-1",
  name: "desk",
  role: "all" as const,
  labels: ["gpu"],
  capacity: 4,
  running: 1,
  version: "1.0.0",
  status: "live" as const,
  leader: true,
  joined_at: "2026-03-01T12:00:00.000Z",
  heartbeat_at: "2026-03-01T12:00:02.000Z",
  seconds_since_heartbeat: 0.7,
  clock_skew_ms: -3.5,
  config_current: true,
  self: true,
};

test("returns the nodes of a fleet over its socket and by its client", async () => {
  const { fleet, socket } = await startSocketHarness();
  fleet.nodeViews = [
    node,
    { ...node, id: "node-2", status: "lost", clock_skew_ms: null, self: false },
  ];
  const { status, json } = await sendRequest(socket, "GET", "/v1/nodes");
  expect(status).toBe(200);
  expect(json).toEqual({ nodes: fleet.nodeViews });
  const client = await connectFleet({ socketPath: socket });
  onTestFinished(() => client?.close());
  expect(await client?.nodes.list()).toEqual(fleet.nodeViews);
});
