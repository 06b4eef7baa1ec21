import { expect, test } from "vitest";
import { waitUntil } from "../support/fleet-child-process.ts";
import { startHarness } from "../support/harness.ts";
import { createInProcessCluster } from "../support/in-process-cluster.ts";
import { sharedPostgresAddress } from "../support/postgres.ts";
import { tempFolderWith } from "../support/temp-folder.ts";

await sharedPostgresAddress();

const greetingScript = { script: { rules: [{ reply: "Good morning." }] } };
const manualTrigger = { agent: "one", prompt: "hello" };
const persistentAgent = (gone: string) =>
  `  - { name: one, runtime: cli, session: { mode: persistent }, when_node_gone: ${gone} }`;

/** Creates a session on a node and then removes that node. */
async function loseNodeWithSession(gone: string) {
  const harness = await startHarness(greetingScript);
  const { node } = await createInProcessCluster(harness, persistentAgent(gone));
  const folder = tempFolderWith({});
  const there = await node("there", { folder });
  const { job } = await there.jobs.trigger(manualTrigger);
  const first = await there.jobs.wait(job.id);
  expect(first).toMatchObject({ status: "completed" });
  const here = await node("here");
  // While the node is there, it runs the next job of the session.
  const second = await here.jobs.wait((await here.jobs.trigger(manualTrigger)).job.id);
  expect(second).toMatchObject({ node: first.node, session_id: first.session_id });
  await there.shutdown({ drainMs: 0 });
  return { node, here, first, folder };
}

test("moves a job to another node with a fresh session and a warning when its node is lost", async () => {
  const { here, first } = await loseNodeWithSession("move");
  const moved = await here.jobs.wait((await here.jobs.trigger(manualTrigger)).job.id);
  expect(moved).toMatchObject({ status: "completed" });
  expect(moved.node).not.toBe(first.node);
  expect(moved.session_id).not.toBe(first.session_id);
  expect(moved.warnings.join("\n")).toContain("node there");
  expect(moved.warnings.join("\n")).toContain("fresh session");
  const resumed = await here.jobs.wait((await here.sessions.resume(first.id, "and again")).job.id);
  expect(resumed).toMatchObject({ status: "completed", node: moved.node });
  expect(resumed.session_id).not.toBe(first.session_id);
}, 60_000);

test("keeps a job waiting for its lost node and resumes the session when it is back", async () => {
  const { node, here, first, folder } = await loseNodeWithSession("wait");
  const { job } = await here.jobs.trigger(manualTrigger);
  const warning = await waitUntil("the warning", async () => {
    const { warnings = [], status } = (await here.jobs.get(job.id))?.job ?? {};
    expect(status).toBe("pending");
    return warnings[0];
  });
  expect(warning).toContain("node there");
  await node("there", { folder });
  const ended = await here.jobs.wait(job.id);
  expect(ended).toMatchObject({ status: "completed", node: first.node });
  expect(ended.session_id).toBe(first.session_id);
}, 60_000);
