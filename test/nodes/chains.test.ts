import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { chainOver, delegate, member } from "../herd-tools/delegating.ts";
import { until } from "../support/fleet-program.ts";
import { folderWith } from "../support/folder.ts";
import { together } from "../support/nodes.ts";
import { testServer } from "../support/postgres.ts";
import { obedientStage, obey } from "../support/runtime.ts";

await testServer();

const gpu = { node: { labels: ["gpu"] } };
const manual = { trigger: "manual" as const, agent: "a" };
const onGpu = { more: "runs_on: [gpu]" };

test("an agent hands work to another one on another node and waits for its end", async () => {
  const on = await obedientStage();
  const agents = [member({ name: "a", may: ["b"] }), member({ name: "b", ...onGpu })];
  const { node } = await together(on, agents.join("\n"));
  const here = await node("here");
  const prompt = delegate({ agent: "b", prompt: "Say hello.", wait: true });
  const { job } = await here.trigger({ ...manual, prompt });
  await node("there", gpu);
  expect(await here.wait(job.id)).toMatchObject({ status: "completed" });
  const [first, second] = await chainOver(here, job.id);
  expect(second).toMatchObject({ agent: "b", status: "completed", attempts: 1 });
  expect(first?.node).not.toBe(second?.node);
}, 60_000);

test("who cancels a chain ends what runs of it on another node", async () => {
  const on = await obedientStage();
  const patient = obey(["Bash", { command: "sleep 600" }]);
  const agents = [
    member({ name: "a", may: ["b"] }),
    member({ name: "b", told: patient, ...onGpu }),
  ];
  const { node } = await together(on, agents.join("\n"));
  const here = await node("here");
  await node("there", gpu);
  const prompt = delegate({ agent: "b", prompt: "Go.", wait: true });
  const { job } = await here.trigger({ ...manual, prompt });
  await until("the other to run", async () => {
    const [, other] = await here.chain(job.id);
    return other?.status === "running";
  });
  await here.cancel(job.id);
  const chain = await chainOver(here, job.id);
  expect(chain.map(({ status }) => status)).toEqual(["cancelled", "cancelled"]);
}, 60_000);

test("what is reloaded on one node is read on all of them", async () => {
  const on = await obedientStage();
  const { node } = await together(on, member({ name: "a" }));
  const folders = [folderWith({}), folderWith({})];
  const [here] = await Promise.all([
    node("here", { folder: folders[0] }),
    node("there", { folder: folders[1], ...gpu }),
  ]);
  for (const folder of folders.reverse()) {
    const file = join(folder, "herdctl.yaml");
    writeFileSync(file, `${readFileSync(file, "utf8")}${member({ name: "b", ...onGpu })}\n`);
  }
  await here.reload();
  const { job } = await here.trigger({ ...manual, agent: "b", prompt: "Say hello." });
  expect(await here.wait(job.id)).toMatchObject({ status: "completed" });
  const nodes = await here.nodes();
  expect(nodes.map(({ config_in_force }) => config_in_force)).toEqual([true, true]);
}, 60_000);
