import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { chainAgentYaml, delegatePrompt, waitForChain } from "../agent-tools/delegation-helpers.ts";
import { waitUntil } from "../support/fleet-child-process.ts";
import { createInProcessCluster } from "../support/in-process-cluster.ts";
import { sharedPostgresAddress } from "../support/postgres.ts";
import { startObedientHarness, toolCallPrompt } from "../support/runtimes-under-test.ts";
import { tempFolderWith } from "../support/temp-folder.ts";

await sharedPostgresAddress();

const gpuNode = { node: { labels: ["gpu"] } };
const manualTrigger = { agent: "a" };
const onGpu = { more: "runs_on: [gpu]" };

test("delegates to an agent on another node and waits for its end", async () => {
  const harness = await startObedientHarness();
  const agents = [
    chainAgentYaml({ name: "a", mayTrigger: ["b"] }),
    chainAgentYaml({ name: "b", ...onGpu }),
  ];
  const { node } = await createInProcessCluster(harness, agents.join("\n"));
  const here = await node("here");
  const prompt = delegatePrompt({ agent: "b", prompt: "Say hello.", wait: true });
  const { job } = await here.jobs.trigger({ ...manualTrigger, prompt });
  await node("there", gpuNode);
  expect(await here.jobs.wait(job.id)).toMatchObject({ status: "completed" });
  const [first, second] = await waitForChain(here, job.id);
  expect(second).toMatchObject({ agent: "b", status: "completed", attempts: 1 });
  expect(first?.node).not.toBe(second?.node);
}, 60_000);

test("cancels the delegated jobs of a chain on another node", async () => {
  const harness = await startObedientHarness();
  const patient = toolCallPrompt(["Bash", { command: "tail -f /dev/null" }]);
  const agents = [
    chainAgentYaml({ name: "a", mayTrigger: ["b"] }),
    chainAgentYaml({ name: "b", systemPrompt: patient, ...onGpu }),
  ];
  const { node } = await createInProcessCluster(harness, agents.join("\n"));
  const here = await node("here");
  await node("there", gpuNode);
  const prompt = delegatePrompt({ agent: "b", prompt: "Go.", wait: true });
  const { job } = await here.jobs.trigger({ ...manualTrigger, prompt });
  await waitUntil("the other to run", async () => {
    const [, other] = await here.jobs.chain(job.id);
    return other?.status === "running";
  });
  await here.jobs.cancel(job.id);
  const chain = await waitForChain(here, job.id);
  expect(chain.map(({ status }) => status)).toEqual(["cancelled", "cancelled"]);
}, 60_000);

test("reloads the configuration of all nodes when one is reloaded", async () => {
  const harness = await startObedientHarness();
  const { node } = await createInProcessCluster(harness, chainAgentYaml({ name: "a" }));
  const folders = [tempFolderWith({}), tempFolderWith({})];
  const [here] = await Promise.all([
    node("here", { folder: folders[0] }),
    node("there", { folder: folders[1], ...gpuNode }),
  ]);
  for (const folder of folders.reverse()) {
    const file = join(folder, "herdctl.yaml");
    writeFileSync(
      file,
      `${readFileSync(file, "utf8")}${chainAgentYaml({ name: "b", ...onGpu })}\n`,
    );
  }
  await here.reload();
  const { job } = await here.jobs.trigger({ ...manualTrigger, agent: "b", prompt: "Say hello." });
  expect(await here.jobs.wait(job.id)).toMatchObject({ status: "completed" });
  const nodes = await here.nodes.list();
  expect(nodes.map(({ config_current }) => config_current)).toEqual([true, true]);
}, 60_000);
