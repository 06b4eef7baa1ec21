import { join } from "node:path";
import type { ApprovalDecision, PermissionRule, ToolRule } from "@herdctl/protocol";
import { formatToolRule } from "@herdctl/protocol";
import { describe, expect, onTestFinished, test } from "vitest";
import { createAuditEntry } from "../../packages/core/src/fleet/audit-log-writer.ts";
import { withPermissionRules } from "../../packages/core/src/jobs/attempts/apply-rules.ts";
import { ApprovalRequests } from "../../packages/core/src/jobs/attempts/approval-requests.ts";
import { readSuggestedRules } from "../../packages/core/src/runner/contract/permission-rules.ts";
import { effectiveRules } from "../../packages/core/src/store/model/permission-rules.ts";
import { StateManager } from "../../packages/core/src/store/state-manager.ts";
import { ChatApprovals } from "../../packages/core/src/triggers/chat/chat-approvals.ts";
import type { ChatFleetApi } from "../../packages/core/src/triggers/chat/chat-fleet-api.ts";
import type { Connector } from "../../packages/core/src/triggers/chat/connector.ts";
import { agentOf, inlineAgent, loadTestFleet } from "../support/fleet-config.ts";
import { tempFolderWith } from "../support/temp-folder.ts";

const { signal } = new AbortController();
const npmTest: ToolRule = { tool: "Bash", content: "npm test:*" };
const actor = { identity: "user:test", origin: "test" };
const audit = createAuditEntry(actor, { action: "rule.remove", target: "rule" });

/** Jobs of one agent whose requests a person answers with these decisions, in this order. */
async function startJobs(decisions: ApprovalDecision[], denied_tools: string[] = []) {
  const state = await new StateManager(join(tempFolderWith({}), "state")).open();
  onTestFinished(() => state.close());
  const asked: string[] = [];
  const newJob = async () => {
    const { job } = await state.jobs.create({ agent: "one", prompt: "p" });
    await state.jobs.startAttempt(job.id);
    return job.id;
  };
  let uses = 0;
  const request = (jobId: string, command: string, suggestedRules: ToolRule[] = []) => {
    const askPerson = async () => {
      asked.push(command);
      return decisions.shift() ?? "deny";
    };
    const agent = () => ({ name: "one", denied_tools });
    const requests = new ApprovalRequests(state, { jobId, attempt: 1 }, askPerson, { agent });
    const toolUseId = `use-${uses++}`;
    return requests.answer({ tool: "Bash", input: { command }, toolUseId, suggestedRules }, signal);
  };
  return { state, asked, newJob, request };
}

describe("a permission for more than one call", () => {
  test("given always, holds for later jobs of the agent until it is revoked", async () => {
    const { state, asked, newJob, request } = await startJobs([{ allow: "always" }, "deny"]);
    const first = await request(await newJob(), "npm test", [npmTest]);
    expect(first).toMatchObject({
      behavior: "allow",
      updatedPermissions: [
        {
          rules: [{ toolName: "Bash", ruleContent: "npm test:*" }],
          behavior: "allow",
          destination: "session",
        },
      ],
    });
    const later = await newJob();
    expect(await request(later, "npm test -- --watch", [npmTest])).toMatchObject({
      behavior: "allow",
    });
    expect(asked).toEqual(["npm test"]);
    const [rule] = await state.rules.list();
    expect(rule).toMatchObject({ agent: "one", job_id: null, rules: [npmTest] });
    await state.rules.remove(rule?.id ?? "", audit);
    expect(await request(later, "npm test", [npmTest])).toMatchObject({ behavior: "deny" });
    expect((await state.audit.list({ limit: 5 })).records[0]).toMatchObject({
      action: "rule.remove",
    });
  });

  test("given for a job, holds for that job only", async () => {
    const { asked, newJob, request } = await startJobs([{ allow: "job" }, "deny"]);
    const job = await newJob();
    await request(job, "npm test", [npmTest]);
    expect(await request(job, "npm test x", [npmTest])).toMatchObject({ behavior: "allow" });
    expect(await request(await newJob(), "npm test", [npmTest])).toMatchObject({
      behavior: "deny",
    });
    expect(asked).toEqual(["npm test", "npm test"]);
  });

  test("without a suggested rule, holds for the exact input", async () => {
    const { asked, newJob, request } = await startJobs([{ allow: "always" }, "deny"]);
    await request(await newJob(), "deploy a");
    expect(await request(await newJob(), "deploy a")).toEqual({
      behavior: "allow",
      updatedInput: { command: "deploy a" },
    });
    expect(await request(await newJob(), "deploy b")).toMatchObject({ behavior: "deny" });
    expect(asked).toEqual(["deploy a", "deploy b"]);
  });

  test("given once, writes no rule", async () => {
    const { state, newJob, request } = await startJobs(["allow"]);
    const answer = await request(await newJob(), "npm test", [npmTest]);
    expect(answer).toEqual({ behavior: "allow", updatedInput: { command: "npm test" } });
    expect(await state.rules.list()).toEqual([]);
  });

  test("does not hold for a tool that is denied", async () => {
    const { state, asked, newJob, request } = await startJobs(
      [{ allow: "always" }, { allow: "always" }],
      ["Bash"],
    );
    await request(await newJob(), "npm test", [npmTest]);
    await request(await newJob(), "npm test", [npmTest]);
    expect(asked).toHaveLength(2);
    const agent = agentOf(loadTestFleet(inlineAgent("denied_tools: [Bash]")), "one");
    expect((await withPermissionRules(state, agent, "job-1")).allowed_tools).toEqual([]);
  });
});

test("writes a rule from a chat only for a rule approver", async () => {
  const { state, newJob } = await startJobs([]);
  const expires_at = new Date(Date.now() + 60_000).toISOString();
  const request = { tool: "Bash", input: {}, suggested_rules: [npmTest], expires_at };
  const approval = await state.approvals.create({ job_id: await newJob(), attempt: 1, ...request });
  const answered: ApprovalDecision[] = [];
  const fleet = {
    state,
    answerApproval: async (_: string, decision: ApprovalDecision) => void answered.push(decision),
  } as unknown as ChatFleetApi;
  const approvals = new ChatApprovals({
    ...{ fleet, agent: "one", platform: "slack" },
    ...{ approvers: ["ann", "bob"], ruleApprovers: ["bob"] },
    connector: {} as Connector,
    postBesideAnswer: async () => undefined,
  });
  const press = async (choice: string, id: string) => {
    const value = `herdctl:${approval.id}:${approval.input_hash.slice(0, 16)}:${choice}`;
    const sender = { id, name: id, roles: [], isBot: false };
    let text = "";
    const respond = async (response: string) => {
      text = response;
    };
    const room = { workspace: null, channel: "c", thread: null, direct: false };
    await approvals.handleButton({ value, room, sender, respond });
    return text;
  };
  expect(await press("always", "ann")).toContain("Only the rule approvers");
  expect(await press("job", "ann")).toBe("Allowed for this job.");
  expect(await press("always", "bob")).toBe("Allowed always.");
  expect(answered).toEqual([{ allow: "job" }, { allow: "always" }]);
});

const rule = (rules: ToolRule[], tool = "Bash") => ({ rules, tool }) as PermissionRule;

describe("rules of people and denied tools", () => {
  test.each([
    [rule([npmTest]), [], 1],
    [rule([npmTest]), ["Bash"], 0],
    [rule([npmTest]), ["B*"], 0],
    [rule([npmTest]), ["Bash(npm test:*)"], 0],
    [rule([npmTest]), ["Bash(npm publish:*)", "Write"], 1],
    [rule([]), ["Bash"], 0],
    [rule([{ tool: "mcp__github__merge", content: null }]), ["mcp__github"], 0],
    [rule([{ tool: "mcp__github__merge", content: null }]), ["mcp__git"], 1],
  ])("keeps of %j with denied %j %d rules", (given, denied, count) => {
    expect(effectiveRules([given], denied)).toHaveLength(count);
  });

  test("are added to the tools of a run, also to those of servers on the host", async () => {
    const { state, newJob, request } = await startJobs([{ allow: "always" }, { allow: "job" }]);
    await request(await newJob(), "npm test", [npmTest]);
    const job = await newJob();
    await request(job, "ls (x)", [{ tool: "Bash", content: "ls (x):*" }]);
    const configured = agentOf(loadTestFleet(inlineAgent("allowed_tools: [Read]")), "one");
    const agent = {
      ...configured,
      host_tools: { permission_mode: "default" as const, allowed_tools: [] },
    };
    const other = await withPermissionRules(state, agent, "job-other");
    expect(other.allowed_tools).toEqual(["Read", "Bash(npm test:*)"]);
    expect(other.host_tools?.allowed_tools).toEqual(["Bash(npm test:*)"]);
    const own = await withPermissionRules(state, agent, job);
    expect(own.allowed_tools).toEqual(["Read", "Bash(npm test:*)", "Bash(ls \\(x\\):*)"]);
  });
});

const suggest = (...rules: [toolName: string, ruleContent?: string][]) => [
  {
    type: "addRules",
    behavior: "allow",
    destination: "localSettings",
    rules: rules.map(([toolName, ruleContent]) => ({ toolName, ruleContent })),
  },
];

describe("suggested rules of Claude Code", () => {
  test.each([
    ["a prefix", "Bash", suggest(["Bash", "npm test:*"]), ["Bash(npm test:*)"]],
    ["several", "Bash", suggest(["Bash", "a:*"], ["Bash", "b:*"]), ["Bash(a:*)", "Bash(b:*)"]],
    ["a tool of a server", "mcp__x__y", suggest(["mcp__x__y"]), ["mcp__x__y"]],
    ["the whole of Bash", "Bash", suggest(["Bash"]), []],
    ["everything", "Bash", suggest(["Bash", "*"]), []],
    ["another tool", "Bash", suggest(["Read", "//etc/**"]), []],
    ["partly another tool", "Bash", suggest(["Bash", "a:*"], ["mcp__x__y"]), []],
    ["a hidden character", "Bash", suggest(["Bash", "npm\u202etest:*"]), []],
    ["another mode", "Edit", [{ type: "setMode", mode: "acceptEdits" }], []],
    ["a denial", "Bash", [{ ...suggest(["Bash", "a:*"])[0], behavior: "deny" }], []],
    ["nothing", "Bash", undefined, []],
  ])("%s", (_, tool, suggestions, expected) => {
    expect(readSuggestedRules(tool, suggestions).map(formatToolRule)).toEqual(expected);
  });
});
