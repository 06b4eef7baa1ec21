import type {
  AgentStatus,
  Approval,
  FleetEvent,
  FleetStatus,
  Job,
  SDKMessage,
} from "@herdctl/core";
import { expect, test } from "vitest";
import { agentPage } from "../../packages/cli/src/show/agent-page.ts";
import { agentTable } from "../../packages/cli/src/show/agent-table.ts";
import { bannerLines } from "../../packages/cli/src/show/fleet-banner.ts";
import { fleetLines } from "../../packages/cli/src/show/fleet-line.ts";
import { FleetPainter } from "../../packages/cli/src/show/fleet-painter.ts";
import { openTerminal } from "../../packages/cli/src/terminal.ts";

const look = { colors: openTerminal(true).colors, width: 100 };
const now = new Date("2026-03-01T12:00:00Z");
const ago = (seconds: number) => new Date(now.getTime() - seconds * 1000).toISOString();

function agent(more: Partial<AgentStatus> = {}): AgentStatus {
  return {
    name: "coder",
    description: null,
    runtime: "cli",
    docker: false,
    paused: null,
    pending: 0,
    waiting: 0,
    running: [],
    schedules: [],
    last_job: null,
    next_due: null,
    cost_today_usd: 0,
    ...more,
  };
}

function fleet(more: Partial<FleetStatus["fleet"]> = {}): FleetStatus {
  const base = { name: "shop", file: "/shop/herdctl.yaml", pid: 77, version: "1.0.0" };
  const counts = {
    pending: 0,
    running: 0,
    waiting: 0,
    cost_today_usd: 0,
    url: null,
    shared: false,
  };
  const state = "running" as const;
  return {
    fleet: { ...base, ...counts, started_at: ago(7_800), state, problem: null, ...more },
    agents: [],
  };
}

function job(more: Partial<Job> = {}): Job {
  return {
    id: "job-2026-03-01-k3v9",
    agent: "coder",
    prompt: "Fix the test\nand nothing else",
    trigger_type: "manual",
    triggered_by: null,
    schedule: null,
    priority: 0,
    idempotency_key: null,
    resumed_from: null,
    forked_from: null,
    fork_point: null,
    expand_prompt: false,
    node: null,
    assigned: null,
    reserved_usd: null,
    chain: { id: "job-2026-03-01-k3v9", parent: null, depth: 0, agents: [], max_usd: null },
    waits_for: [],
    untrusted: false,
    status: "pending",
    outcome: null,
    session_id: null,
    summary: null,
    cost_usd: null,
    usage: null,
    runtime: null,
    place: null,
    credential: null,
    container_id: null,
    container_image: null,
    claude_version: null,
    metadata: null,
    report: null,
    artifacts: [],
    git: null,
    warnings: [],
    runner: null,
    due_at: null,
    crashes: 0,
    attempts: 0,
    created_at: ago(60),
    started_at: null,
    finished_at: null,
    duration_seconds: null,
    output_file: "/shop/output.jsonl",
    ...more,
  };
}

test.each<[string, FleetStatus, string[]]>([
  ["idle", fleet(), ["shop  ● running  pid 77 · up 2 h · nothing to do · $0.0000 today"]],
  [
    "at work",
    fleet({ running: 2, waiting: 1, pending: 1_300, cost_today_usd: 3.5 }),
    ["shop  ● running  pid 77 · up 2 h · 2 running · 1 waiting · 1,300 pending · $3.50 today"],
  ],
  [
    "refusing",
    fleet({ state: "refusing", problem: "the disk is full\nfree some space" }),
    [
      "shop  ● takes no new work  pid 77 · up 2 h · nothing to do · $0.0000 today",
      "! the disk is full",
      "  free some space",
    ],
  ],
])("the line of a fleet that is %s", (_, status, lines) => {
  expect(fleetLines(status, now, look)).toEqual(lines);
});

test.each<[string, Partial<AgentStatus>, RegExp]>([
  ["idle", {}, /^coder +cli +idle$/],
  [
    "at work",
    { running: [{ job_id: "job-1", started_at: ago(42), doing: "Bash npm test" }], pending: 2 },
    /^coder +cli +2 +◐ 42 s {2}Bash npm test$/,
  ],
  [
    "at work on several jobs",
    {
      running: [1, 2, 3].map((n) => ({
        job_id: `job-${n}`,
        started_at: ago(n),
        doing: "thinking",
      })),
    },
    /◐ 1 s {2}thinking {2}and 2 jobs more$/,
  ],
  [
    "paused",
    { paused: { reason: "auth_failed", since: ago(300) }, docker: true, runtime: "sdk" },
    /^coder +sdk · docker +‖ paused 5 min: auth_failed$/,
  ],
  ["waiting", { waiting: 2 }, /◔ 2 waiting$/],
  [
    "done with something",
    {
      last_job: { id: "job-1", outcome: "max_turns", finished_at: ago(120) },
      cost_today_usd: 0.0123,
    },
    /^coder +cli +✗ max_turns 2 min +\$0\.0123 +idle$/,
  ],
  [
    "done in a way that this version does not know",
    { last_job: { id: "job-1", outcome: "abducted", finished_at: ago(120) } },
    /✗ abducted 2 min/,
  ],
])("the row of an agent that is %s", (_, more, row) => {
  expect(agentTable([agent(more)], now, look)[1]).toMatch(row);
});

test("the page of an agent shows each job of it, what it waits for and how to go on", () => {
  const waiting = job({
    status: "waiting",
    outcome: { code: "usage_limit", message: "", hint: "", resets_at: now.toISOString() },
  });
  const page = agentPage(
    {
      agent: agent({
        running: [{ job_id: "job-1", started_at: ago(42), doing: "Bash npm test" }],
        paused: { reason: "billing", since: ago(60) },
        description: "writes code",
      }),
      waiting: [waiting],
      recent: [],
    },
    now,
    look,
  ).join("\n");
  expect(page).toMatch(/^coder {2}cli · writes code\n/);
  expect(page).toMatch(/now +◐ Bash npm test 42 s · job-1\n/);
  expect(page).toMatch(/waiting +◔ usage_limit until .* job-2026-03-01-k3v9\n/);
  expect(page).toMatch(/paused +billing \(1 min\)\n +herdctl resume coder\n/);
});

const approval: Approval = {
  id: "approval-1",
  kind: "permission",
  request_id: null,
  question: null,
  choices: null,
  free_text: false,
  several: false,
  default_reply: null,
  reply: null,
  job_id: "job-2026-03-01-k3v9",
  attempt: 1,
  tool: "Bash",
  input: { command: "rm -rf build" },
  input_hash: "",
  asked_at: ago(1),
  expires_at: ago(-1800),
  answer: null,
  answered_by: null,
  answered_note: null,
  answered_at: null,
  reason: null,
  used: false,
};

const said = (message: object): FleetEvent => ({
  type: "job:output",
  job_id: "job-2026-03-01-k3v9",
  agent: "coder",
  message: message as SDKMessage,
  offset: 1,
});

const calls = (tool: string, input: object, parent: string | null = null) =>
  said({
    type: "assistant",
    parent_tool_use_id: parent,
    message: { content: [{ type: "tool_use", id: "1", name: tool, input }] },
  });

const failed = {
  status: "failed" as const,
  outcome: { code: "max_turns" as const, message: "The agent used all its turns.", hint: "" },
  duration_seconds: 42,
  cost_usd: 0.0123,
};

const told: [what: string, event: FleetEvent, lines: string[]][] = [
  [
    "a job that comes in",
    { type: "job:created", job: job() },
    ["coder  ○ job-2026-03-01-k3v9  Fix the test"],
  ],
  [
    "its start",
    { type: "job:started", job: job({ attempts: 1 }) },
    ["coder  ◐ started  Fix the test"],
  ],
  [
    "another try",
    { type: "job:started", job: job({ attempts: 2 }) },
    ["coder  ◐ started, attempt 2  Fix the test"],
  ],
  ["a tool", calls("Bash", { command: "npm test\nls" }), ["coder  ▸ Bash  npm test ⏎ ls"]],
  ["a subagent's tool, which is too much", calls("Bash", { command: "ls" }, "toolu_1"), []],
  ["a message of a shape that nobody knows", said({ type: "assistant" }), []],
  [
    "a try of the API again",
    said({
      type: "system",
      subtype: "api_retry",
      attempt: 1,
      max_retries: 10,
      error_status: 529,
      retry_delay_ms: 500,
    }),
    ["coder  ! the API is overloaded (529), try 1 of 10 in 0.5 s"],
  ],
  [
    "a failure",
    { type: "job:failed", job: job(failed) },
    ["coder  ✗ max_turns  42 s · $0.0123 · The agent used all its turns."],
  ],
  [
    "a question, and what answers it",
    { type: "approval:asked", approval },
    ["coder  ? asks to use Bash  rm -rf build", "coder    herdctl approvals allow approval-1"],
  ],
  [
    "an answer",
    { type: "approval:answered", approval: { ...approval, answer: "deny", answered_by: "kim" } },
    ["coder  ✗ Bash denied by kim"],
  ],
  [
    "a pause, and what ends it",
    { type: "agent:paused", agent: "coder", reason: "billing" },
    ["coder  ‖ paused  billing", "coder    herdctl resume coder"],
  ],
  [
    "problems of a configuration",
    { type: "fleet:problem", message: "herdctl.yaml:3:1 is wrong\nherdctl.yaml:9:1 too" },
    ["fleet  ! herdctl.yaml:3:1 is wrong", "fleet    herdctl.yaml:9:1 too"],
  ],
  [
    "hostile text",
    calls("Bash", { command: "\x1b[2J\x1b]0;owned\x07" }),
    ["coder  ▸ Bash  \\x1b[2J\\x1b]0;owned\\x07"],
  ],
];

test.each(told)("the fleet tells of %s", (_, event, lines) => {
  const painter = new FleetPainter(["coder"], look);
  painter.know("job-2026-03-01-k3v9", "coder");
  const clock = now.toLocaleTimeString("sv");
  expect(painter.paint(event, now)).toEqual(lines.map((line) => `${clock}  ${line}`));
});

test("no line is wider than the screen", () => {
  const painter = new FleetPainter(["coder"], { ...look, width: 40 });
  const lines = told.flatMap(([, event]) => painter.paint(event, now));
  expect(lines.filter((line) => line.length > 40)).toEqual([]);
});

test("a fleet that starts says where browsers find it, and what it means to be open to others", () => {
  const facts = { socket: "/shop/.herdctl/herdctl.sock", reattached: 0 };
  const lines = (url: string | null, more: { host: string; link?: string }) =>
    bannerLines(fleet({ url }), { ...facts, ...more }, look).join("\n");
  const url = "http://127.0.0.1:3232";
  const link = `${url}/login#code`;
  expect(lines(url, { host: "127.0.0.1", link })).toContain(`open it in a browser: ${link}`);
  expect(lines(url, { host: "127.0.0.1" })).toContain(`herdctl open  (${url})`);
  expect(lines(url, { host: "127.0.0.1" })).not.toContain("Other machines");
  expect(lines(url, { host: "0.0.0.0" })).toContain("Whoever has the token there can run agents");
  expect(lines(null, { host: "127.0.0.1" })).not.toContain("browser");
});

test("among several machines the line of an agent says on which one it works", () => {
  const running = [{ job_id: "job-1", started_at: ago(5), doing: "Reads a file", node: "rack" }];
  expect(agentTable([agent({ running })], now, look).join("\n")).toContain(
    "◐ 5 s on rack  Reads a file",
  );
  expect(
    agentPage({ agent: agent({ running }), waiting: [], recent: [] }, now, look).join("\n"),
  ).toContain("◐ Reads a file 5 s · rack · job-1");
});
