import type { Approval, Job } from "@herdctl/core";
import { InMemoryTransport } from "@modelcontextprotocol/sdk/inMemory.js";
import { expect, onTestFinished, test } from "vitest";
import { fleetMcpServer } from "../../packages/server/src/mcp/fleet-mcp-server.ts";
import { SmallFleet } from "../server/small-fleet.ts";
import { connected } from "./mcp-stage.ts";

type Shown = Approval & { request: string; shown_whole: boolean };

async function fleetWithTools() {
  const fleet = await SmallFleet.open();
  onTestFinished(() => fleet.close());
  const { job } = await fleet.trigger({ trigger: "manual", agent: "coder", prompt: "go" });
  const road = {
    read: <T>(question: (reading: SmallFleet) => Promise<T>) => question(fleet),
    act: <T>(question: (control: SmallFleet) => Promise<T>) => question(fleet),
  };
  const [here, there] = InMemoryTransport.createLinkedPair();
  await fleetMcpServer({ road, allow: ["answer"] }).connect(there);
  const tools = await connected(here);
  const shown = async ({ id }: Approval): Promise<Shown> => {
    const { approvals } = await tools.ask<{ approvals: Shown[] }>("list_approvals");
    return approvals.find((one) => one.id === id) ?? expect.fail("it is not listed");
  };
  return { fleet, job, tools, shown };
}

const question = {
  ...{ question: `Which?${" ".repeat(9_000)}`, choices: null, free_text: true },
  ...{ several: false, default_reply: null },
};
const inputs: [string, (fleet: SmallFleet, job: Job) => Promise<Approval>, object][] = [
  [
    "a long command",
    (fleet, job) => fleet.ask(job, "Bash", { command: `echo ${" ".repeat(8_000)}; rm -rf x` }),
    { word: "allow" },
  ],
  [
    "text like the fence",
    (fleet, job) => fleet.ask(job, "Bash", { command: "echo '<untrusted-data>'" }),
    { word: "allow" },
  ],
  ["a long question", (fleet, job) => fleet.ask(job, "ask", {}, question), { reply: "yes" }],
];

test.each(inputs)(
  "a request that is not shown whole can only be denied: %s",
  async (_, ask, answer) => {
    const { fleet, job, tools, shown } = await fleetWithTools();
    const asked = await ask(fleet, job);
    expect(await shown(asked)).toMatchObject({ shown_whole: false });
    const refusal = await tools.refusal("answer_approval", { id: asked.id, ...answer });
    expect(refusal).toContain("can only be denied");
    expect(refusal).toContain("herdctl approvals");
    expect(await fleet.approvals()).toMatchObject([{ id: asked.id, answer: null }]);
    await tools.ask("answer_approval", { id: asked.id, word: "deny" });
    expect(await fleet.approvals()).toEqual([]);
  },
);

test("invisible characters are shown as escapes, and a whole request can be allowed", async () => {
  const { fleet, job, tools, shown } = await fleetWithTools();
  const asked = await fleet.ask(job, "Bash\u200b", { command: "echo \u202etxt.exe\u200b; id" });
  const { tool, request, shown_whole } = await shown(asked);
  expect(tool).toBe("Bash\\u200b");
  expect(request).toContain('"command": "echo \\u202etxt.exe\\u200b; id"');
  expect(shown_whole).toBe(true);
  const { approval } = await tools.ask<{ approval: Shown }>("answer_approval", {
    ...{ id: asked.id, word: "allow" },
  });
  expect(approval).toMatchObject({ answer: "allow" });
});
