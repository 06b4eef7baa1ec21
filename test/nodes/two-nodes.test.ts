import { expect, it } from "vitest";
import { launchFleet, until } from "../support/fleet-program.ts";
import { testDatabase, testServer } from "../support/postgres.ts";
import { stage } from "../support/stage.ts";
import { manual, nodeFile, nodeNamed, startNode } from "./many-nodes.ts";

await testServer();

it("two nodes are one fleet; one with another configuration is refused; the lead goes over", async () => {
  const on = await stage();
  const store = await testDatabase();
  const one = await startNode(on, nodeFile(on), { name: "one", store });
  const two = await startNode(on, nodeFile(on), { name: "two", store });
  expect(await nodeNamed(two.control, "one")).toMatchObject({ status: "live", lead: true });
  const { job } = await one.control.trigger({ ...manual, prompt: "hello" });
  expect(await two.control.wait(job.id)).toMatchObject({ status: "completed", attempts: 1 });

  const env = { ...on.env, HERDCTL_STORE: store };
  const stranger = launchFleet({ env }, nodeFile(on, "  - { name: more }\n"));
  expect(await stranger.exited).toBe(4);
  expect(stranger.said()).toContain("another configuration");

  await one.stop();
  await until("the lead to go over", async () => {
    const [left, leads] = await Promise.all(
      ["one", "two"].map((name) => nodeNamed(two.control, name)),
    );
    return left?.status === "left" && leads?.lead;
  });
  await two.stop();
}, 120_000);
