import { expect, it } from "vitest";
import { launchFleetProcess, waitUntil } from "../support/fleet-child-process.ts";
import { startHarness } from "../support/harness.ts";
import { createTestDatabase, sharedPostgresAddress } from "../support/postgres.ts";
import { findNode, manualTrigger, nodeFile, startNode } from "./start-nodes.ts";

await sharedPostgresAddress();

it("forms one fleet of two nodes, refuses another configuration, and hands over the leadership", async () => {
  const harness = await startHarness();
  const store = await createTestDatabase();
  const one = await startNode(harness, nodeFile(harness), { name: "one", store });
  const two = await startNode(harness, nodeFile(harness), { name: "two", store });
  expect(await findNode(two.control, "one")).toMatchObject({ status: "live", leader: true });
  const { job } = await one.control.jobs.trigger({ ...manualTrigger, prompt: "hello" });
  expect(await two.control.jobs.wait(job.id)).toMatchObject({ status: "completed", attempts: 1 });

  const env = { ...harness.env, HERDCTL_STORE: store };
  const stranger = launchFleetProcess({ env }, nodeFile(harness, "  - { name: more }\n"));
  expect(await stranger.exited).toBe(4);
  expect(stranger.output()).toContain("a different configuration");

  await one.stop();
  await waitUntil("the leadership to change", async () => {
    const [left, leader] = await Promise.all(
      ["one", "two"].map((name) => findNode(two.control, name)),
    );
    return left?.status === "left" && leader?.leader;
  });
  await two.stop();
}, 120_000);
