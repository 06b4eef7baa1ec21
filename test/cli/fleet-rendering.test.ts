import type { SDKMessage } from "@herdctl/core/internal";
import type { AgentStatus, Approval, FleetEventDetails, FleetStatus, Job } from "@herdctl/protocol";
import { expect, test } from "vitest";
import { agentPageLines } from "../../packages/cli/src/render/agent-page.ts";
import { agentTableLines } from "../../packages/cli/src/render/agent-table.ts";
import { bannerLines } from "../../packages/cli/src/render/fleet-banner.ts";
import { FleetEventRenderer } from "../../packages/cli/src/render/fleet-event-renderer.ts";
import { fleetStatusLines } from "../../packages/cli/src/render/fleet-status-lines.ts";
import { openTerminal } from "../../packages/cli/src/terminal.ts";

const renderOptions = { colors: openTerminal(true).colors, width: 100 };
const now = new Date("2026-03-01T12:00:00Z");
const secondsAgo = (seconds: number) => new Date(now.getTime() - seconds * 1000).toISOString();

function agent(more: Partial<AgentStatus> = {}): AgentStatus {
  return {
    name: "coder",
    description: null,
    labels: [],
    runtime: "cli",
    docker: false,
    paused: null,
    pending: 0,
    waiting: 0,
    max_concurrent: 1,
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
    max_concurrent: 10,
    cost_today_usd: 0,
    url: null,
    shared: false,
  };
  const state = "running" as const;
  return {
    fleet: { ...base, ...counts, started_at: secondsAgo(7_800), state, problem: null, ...more },
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
    session_home: null,
    credential: null,
    provider: null,
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
    created_at: secondsAgo(60),
    started_at: null,
    finished_at: null,
    duration_seconds: null,
    output_file: "/shop/output.jsonl",
    ...more,
  };
}

test.each<[string, FleetStatus, string[]]>([
  ["idle", fleet(), ["shop  ● running  pid 77 · up 2 h · idle · $0.0000 today"]],
  [
    "busy",
    fleet({ running: 2, waiting: 1, pending: 1_300, cost_today_usd: 3.5 }),
    ["shop  ● running  pid 77 · up 2 h · 2 running · 1 waiting · 1,300 pending · $3.50 today"],
  ],
  [
    "refusing",
    fleet({ state: "refusing", problem: "the disk is full\nfree some space" }),
    [
      "shop  ● accepts no new jobs  pid 77 · up 2 h · idle · $0.0000 today",
      "! the disk is full",
      "  free some space",
    ],
  ],
])("renders the status line of a fleet that is %s", (_, status, lines) => {
  expect(fleetStatusLines(status, now, renderOptions)).toEqual(lines);
});

test.each<[string, Partial<AgentStatus>, RegExp]>([
  ["idle", {}, /^coder +cli +idle$/],
  [
    "busy with one job",
    {
      running: [{ job_id: "job-1", started_at: secondsAgo(42), activity: "Bash npm test" }],
      pending: 2,
    },
    /^coder +cli +2 +◐ 42 s {2}Bash npm test$/,
  ],
  [
    "busy with several jobs",
    {
      running: [1, 2, 3].map((n) => ({
        job_id: `job-${n}`,
        started_at: secondsAgo(n),
        activity: "thinking",
      })),
    },
    /◐ 1 s {2}thinking {2}and 2 more jobs$/,
  ],
  [
    "paused",
    { paused: { reason: "auth_failed", since: secondsAgo(300) }, docker: true, runtime: "sdk" },
    /^coder +sdk · docker +‖ paused 5 min: auth_failed$/,
  ],
  ["waiting", { waiting: 2 }, /◔ 2 waiting$/],
  [
    "idle after a job",
    {
      last_job: { id: "job-1", outcome: "max_turns", finished_at: secondsAgo(120) },
      cost_today_usd: 0.0123,
    },
    /^coder +cli +✗ max_turns 2 min +\$0\.0123 +idle$/,
  ],
  [
    "idle after a job with an unknown outcome",
    { last_job: { id: "job-1", outcome: "abducted", finished_at: secondsAgo(120) } },
    /✗ abducted 2 min/,
  ],
])("renders the row of an agent that is %s", (_, more, row) => {
  expect(agentTableLines([agent(more)], now, renderOptions)[1]).toMatch(row);
});

test("shows every job of an agent, what it waits for and how to resume it", () => {
  const waiting = job({
    status: "waiting",
    outcome: { code: "usage_limit", message: "", hint: "", resets_at: now.toISOString() },
  });
  const page = agentPageLines(
    {
      agent: agent({
        running: [{ job_id: "job-1", started_at: secondsAgo(42), activity: "Bash npm test" }],
        paused: { reason: "billing", since: secondsAgo(60) },
        description: "writes code",
      }),
      waiting: [waiting],
      recent: [],
    },
    now,
    renderOptions,
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
  multiple: false,
  default_reply: null,
  suggested_rules: [],
  reply: null,
  scope: null,
  job_id: "job-2026-03-01-k3v9",
  attempt: 1,
  tool: "Bash",
  input: { command: "rm -rf build" },
  input_hash: "",
  requested_at: secondsAgo(1),
  expires_at: secondsAgo(-1800),
  answer: null,
  answered_by: null,
  answered_note: null,
  answered_at: null,
  reason: null,
  used: false,
};

const outputEvent = (message: object): FleetEventDetails => ({
  type: "job:output",
  job_id: "job-2026-03-01-k3v9",
  agent: "coder",
  message: message as SDKMessage,
  offset: 1,
});

const toolCallEvent = (tool: string, input: object, parent: string | null = null) =>
  outputEvent({
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

const eventLineCases: [what: string, event: FleetEventDetails, lines: string[]][] = [
  [
    "a new job",
    { type: "job:created", job: job() },
    ["coder  ○ job-2026-03-01-k3v9  Fix the test"],
  ],
  [
    "the start of a job",
    { type: "job:started", job: job({ attempts: 1 }) },
    ["coder  ◐ started  Fix the test"],
  ],
  [
    "another attempt",
    { type: "job:started", job: job({ attempts: 2 }) },
    ["coder  ◐ started, attempt 2  Fix the test"],
  ],
  [
    "a tool call",
    toolCallEvent("Bash", { command: "npm test\nls" }),
    ["coder  ▸ Bash  npm test ⏎ ls"],
  ],
  ["a subagent's tool call (omitted)", toolCallEvent("Bash", { command: "ls" }, "toolu_1"), []],
  ["a message with an unknown shape", outputEvent({ type: "assistant" }), []],
  [
    "a retry of the API",
    outputEvent({
      type: "system",
      subtype: "api_retry",
      attempt: 1,
      max_retries: 10,
      error_status: 529,
      retry_delay_ms: 500,
    }),
    ["coder  ! the API is overloaded (529); retry 1 of 10 in 0.5 s"],
  ],
  [
    "a failure",
    { type: "job:failed", job: job(failed) },
    ["coder  ✗ max_turns  42 s · $0.0123 · The agent used all its turns."],
  ],
  [
    "a permission request and the command that answers it",
    { type: "approval:requested", approval },
    ["coder  ? wants to use Bash  rm -rf build", "coder    herdctl approvals allow approval-1"],
  ],
  [
    "the answer to a request",
    { type: "approval:answered", approval: { ...approval, answer: "deny", answered_by: "kim" } },
    ["coder  ✗ Bash denied by kim"],
  ],
  [
    "a pause and the command that ends it",
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
    toolCallEvent("Bash", { command: "\x1b[2J\x1b]0;owned\x07" }),
    ["coder  ▸ Bash  \\x1b[2J\\x1b]0;owned\\x07"],
  ],
];

test.each(eventLineCases)("renders %s", (_, event, lines) => {
  const painter = new FleetEventRenderer(["coder"], renderOptions);
  painter.rememberJob("job-2026-03-01-k3v9", "coder");
  const clock = now.toLocaleTimeString("sv");
  expect(painter.render(event, now)).toEqual(lines.map((line) => `${clock}  ${line}`));
});

test("keeps every line within the screen width", () => {
  const painter = new FleetEventRenderer(["coder"], { ...renderOptions, width: 40 });
  const lines = eventLineCases.flatMap(([, event]) => painter.render(event, now));
  expect(lines.filter((line) => line.length > 40)).toEqual([]);
});

test("prints the browser address of a starting fleet, with a warning when it is open to other machines", () => {
  const facts = { socket: "/shop/.herdctl/herdctl.sock", reattached: 0 };
  const lines = (url: string | null, more: { host: string; loginUrl?: string }) =>
    bannerLines(fleet({ url }), { ...facts, ...more }, renderOptions).join("\n");
  const url = "http://127.0.0.1:3232";
  const link = `${url}/login#code`;
  expect(lines(url, { host: "127.0.0.1", loginUrl: link })).toContain(`dashboard: ${link}`);
  expect(lines(url, { host: "127.0.0.1" })).toContain(`dashboard: ${url}  (sign in with`);
  expect(lines(url, { host: "127.0.0.1" })).not.toContain("Other machines");
  expect(lines(url, { host: "0.0.0.0" })).toContain("Anyone with its token can run agents");
  expect(lines(null, { host: "127.0.0.1" })).not.toContain("dashboard");
});

test("names the node in the agent line of a fleet with several machines", () => {
  const running = [
    { job_id: "job-1", started_at: secondsAgo(5), activity: "Reads a file", node: "rack" },
  ];
  expect(agentTableLines([agent({ running })], now, renderOptions).join("\n")).toContain(
    "◐ 5 s on rack  Reads a file",
  );
  expect(
    agentPageLines({ agent: agent({ running }), waiting: [], recent: [] }, now, renderOptions).join(
      "\n",
    ),
  ).toContain("◐ Reads a file 5 s · rack · job-1");
});
