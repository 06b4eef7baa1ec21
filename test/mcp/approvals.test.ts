import type { Approval, Job } from "@herdctl/protocol";
import { InMemoryTransport } from "@modelcontextprotocol/sdk/inMemory.js";
import { expect, onTestFinished, test } from "vitest";
import { createFleetMcpServer } from "../../packages/server/src/mcp/fleet-mcp-server.ts";
import { FakeFleet } from "../server/fake-fleet.ts";
import { connectTools } from "./mcp-harness.ts";

type ShownApproval = Approval & { request: string; shown_whole: boolean };

async function fleetWithTools() {
  const fleet = await FakeFleet.open();
  onTestFinished(() => fleet.close());
  const { job } = await fleet.jobs.trigger({ agent: "coder", prompt: "go" });
  const road = {
    read: <T>(question: (reading: FakeFleet) => Promise<T>) => question(fleet),
    control: <T>(question: (control: FakeFleet) => Promise<T>) => question(fleet),
  };
  const [here, there] = InMemoryTransport.createLinkedPair();
  await createFleetMcpServer({ fleetProvider: road, allowances: ["answer"] }).connect(there);
  const tools = await connectTools(here);
  const shown = async ({ id }: Approval): Promise<ShownApproval> => {
    const { approvals } = await tools.callTool<{ approvals: ShownApproval[] }>("list_approvals");
    return approvals.find((one) => one.id === id) ?? expect.fail("it is not listed");
  };
  return { fleet, job, tools, shown };
}

const question = {
  ...{ question: `Which?${" ".repeat(9_000)}`, choices: null, free_text: true },
  ...{ multiple: false, default_reply: null },
};
const inputs: [string, (fleet: FakeFleet, job: Job) => Promise<Approval>, object][] = [
  [
    "a long command",
    (fleet, job) =>
      fleet.createApproval(job, "Bash", { command: `echo ${" ".repeat(8_000)}; rm -rf x` }),
    { decision: "allow" },
  ],
  [
    "text that imitates the fence",
    (fleet, job) => fleet.createApproval(job, "Bash", { command: "echo '<untrusted-data>'" }),
    { decision: "allow" },
  ],
  [
    "a long question",
    (fleet, job) => fleet.createApproval(job, "ask", {}, question),
    { reply: "yes" },
  ],
];

test.each(inputs)(
  "only lets a request be denied that is not shown in full: %s",
  async (_, ask, answer) => {
    const { fleet, job, tools, shown } = await fleetWithTools();
    const asked = await ask(fleet, job);
    expect(await shown(asked)).toMatchObject({ shown_whole: false });
    const refusal = await tools.expectRefusal("answer_approval", { id: asked.id, ...answer });
    expect(refusal).toContain("can only be denied");
    expect(refusal).toContain("GET /v1/approvals");
    expect(await fleet.approvals.list()).toMatchObject([{ id: asked.id, answer: null }]);
    await tools.callTool("answer_approval", { id: asked.id, decision: "deny" });
    expect(await fleet.approvals.list()).toEqual([]);
  },
);

test("shows invisible characters as escapes and lets a fully shown request be allowed", async () => {
  const { fleet, job, tools, shown } = await fleetWithTools();
  const asked = await fleet.createApproval(job, "Bash\u200b", {
    command: "echo \u202etxt.exe\u200b; id",
  });
  const { tool, request, shown_whole } = await shown(asked);
  expect(tool).toBe("Bash\\u200b");
  expect(request).toContain('"command": "echo \\u202etxt.exe\\u200b; id"');
  expect(shown_whole).toBe(true);
  const { approval } = await tools.callTool<{ approval: ShownApproval }>("answer_approval", {
    ...{ id: asked.id, decision: "allow" },
  });
  expect(approval).toMatchObject({ answer: "allow" });
});
