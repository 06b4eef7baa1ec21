import { expect, test } from "vitest";
import { until } from "../support/fleet-program.ts";
import { folderWith } from "../support/folder.ts";
import { together } from "../support/nodes.ts";
import { testServer } from "../support/postgres.ts";
import { stage } from "../support/stage.ts";

await testServer();

const hi = { script: { rules: [{ reply: "Good morning." }] } };
const manual = { trigger: "manual" as const, agent: "one", prompt: "hello" };
const lasting = (gone: string) =>
  `  - { name: one, runtime: cli, session: { mode: persistent }, when_node_gone: ${gone} }`;

/** A session that was made on a node which is gone by now. */
async function leftBehind(gone: string) {
  const on = await stage(hi);
  const { node } = await together(on, lasting(gone));
  const folder = folderWith({});
  const there = await node("there", { folder });
  const { job } = await there.trigger(manual);
  const first = await there.wait(job.id);
  expect(first).toMatchObject({ status: "completed" });
  const here = await node("here");
  // While it is there, it goes on there.
  const second = await here.wait((await here.trigger(manual)).job.id);
  expect(second).toMatchObject({ node: first.node, session_id: first.session_id });
  await there.stop({ drainMs: 0 });
  return { node, here, first, folder };
}

test("its node is gone: a job goes on elsewhere, with a fresh session and a word on it", async () => {
  const { here, first } = await leftBehind("move");
  const moved = await here.wait((await here.trigger(manual)).job.id);
  expect(moved).toMatchObject({ status: "completed" });
  expect(moved.node).not.toBe(first.node);
  expect(moved.session_id).not.toBe(first.session_id);
  expect(moved.warnings.join("\n")).toContain("node there");
  expect(moved.warnings.join("\n")).toContain("fresh session");
  const resumed = await here.wait((await here.resume(first.id, "and again")).job.id);
  expect(resumed).toMatchObject({ status: "completed", node: moved.node });
  expect(resumed.session_id).not.toBe(first.session_id);
}, 60_000);

test("its node is gone: a job waits for it, says so, and goes on in its session", async () => {
  const { node, here, first, folder } = await leftBehind("wait");
  const { job } = await here.trigger(manual);
  const told = await until("it to say so", async () => {
    const { warnings = [], status } = (await here.job(job.id))?.job ?? {};
    expect(status).toBe("pending");
    return warnings[0];
  });
  expect(told).toContain("node there");
  await node("there", { folder });
  const ended = await here.wait(job.id);
  expect(ended).toMatchObject({ status: "completed", node: first.node });
  expect(ended.session_id).toBe(first.session_id);
}, 60_000);
