import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { testSubset, wideTest } from "../support/test-subset.ts";
import { type CliHarness, readLoggedMessages, startCliHarness, waitUntil } from "./cli-harness.ts";
import { waitForExit } from "./run-herdctl.ts";

const filesScript = {
  rules: [
    {
      match: { prompt: "/files/" },
      replies: [
        {
          text: "Let me look.",
          tools: [{ name: "Bash", input: { command: "echo apples.txt", description: "List" } }],
        },
        "There are apples.",
      ],
    },
  ],
  default: "Hello to you.",
};

const blockKinds = (messages: ReturnType<typeof readLoggedMessages>) =>
  messages.flatMap(({ type, subtype, message }) => {
    const content = message?.content;
    const kinds = Array.isArray(content) ? content.map((block) => block.type) : [];
    return kinds.length > 0 ? kinds : [subtype === "init" ? "init" : type];
  });

test.each(["sdk", "cli", "file"])(
  "runs and records a job of the agent `%s` and prints its outcome",
  async (agent) => {
    const harness = await startCliHarness(filesScript);
    const run = await harness.run("trigger", agent, "-p", "which files?", "--wait", "--json");
    expect(run).toMatchObject({ code: 0, stderr: "" });
    const job = JSON.parse(run.stdout);
    expect(job).toMatchObject({
      agent,
      status: "completed",
      outcome: { code: "success" },
      summary: "There are apples.",
      credential: "api_key",
    });
    expect(job.session_id).toMatch(/^[0-9a-f-]{36}$/);
    expect(job.cost_usd).toBeGreaterThan(0);
    const kinds = blockKinds(readLoggedMessages(job));
    const order = ["init", "text", "tool_use", "tool_result", "text", "result"];
    expect(kinds.filter((kind) => order.includes(kind))).toEqual(order);
  },
);

wideTest("resumes or forks an earlier conversation by job, session or id prefix", async () => {
  const harness = await startCliHarness();
  const first = await harness.trigger("cli", "-p", "first");
  const byJob = await harness.trigger("cli", "--resume", first.id, "-p", "second");
  expect(byJob).toMatchObject({ status: "completed", session_id: first.session_id });
  const bySession = await harness.trigger("cli", "--resume", first.session_id ?? "", "-p", "third");
  expect(bySession.session_id).toBe(first.session_id);
  const fork = await harness.trigger(
    "cli",
    "--fork",
    byJob.id.slice("job-2026-01-01-".length, -2),
    "-p",
    "fourth",
  );
  expect(fork).toMatchObject({ status: "completed", forked_from: first.session_id });
  expect(fork.session_id).not.toBe(first.session_id);
  const last = harness.rehearsal.ledger.main.at(-1);
  const conversation = JSON.stringify(last?.body);
  for (const prompt of ["first", "second", "third", "fourth"])
    expect(conversation).toContain(prompt);
});

test("runs a key once and shows the first job for every repetition", async () => {
  const harness = await startCliHarness();
  const first = await harness.trigger("cli", "-p", "hello", "--key", "k1");
  const again = await harness.run(
    "trigger",
    "cli",
    "-p",
    "something else",
    "--key",
    "k1",
    "--json",
  );
  expect(again.code).toBe(0);
  expect(JSON.parse(again.stdout)).toEqual(first);
  expect(harness.rehearsal.ledger.main).toHaveLength(1);
});

wideTest("takes the prompt from a file, standard input, a schedule or the agent", async () => {
  const harness = await startCliHarness();
  writeFileSync(join(harness.folder, "task.md"), "the prompt in a file");
  const jobs = [
    await harness.trigger("cli", "-f", "task.md"),
    await harness.trigger("cli", "--schedule", "nightly"),
    await harness.trigger("sdk"),
  ];
  const { child } = harness.start("trigger", "cli", "-", "--wait", "--json");
  const piped = waitForExit(child);
  child.stdin?.end("the prompt from a pipe");
  jobs.push(JSON.parse((await piped).stdout));
  const prompts = ["the prompt in a file", "the nightly prompt", "hello", "the prompt from a pipe"];
  expect(jobs.map((job) => job.prompt)).toEqual(prompts);
  expect(harness.rehearsal.ledger.main.map((entry) => entry.prompt)).toEqual(prompts);
});

const usageErrors: [args: string[], message: RegExp][] = [
  [["nobody", "-p", "x"], /no agent `nobody`[\s\S]*sdk, cli, file, asks/],
  [["cli", "--schedule", "weekly"], /no schedule `weekly`[\s\S]*nightly/],
  [["cli"], /no prompt for `cli`/],
  [["cli", "-p", "  "], /no prompt for `cli`/],
  [["cli", "-f", "nowhere.md"], /nowhere\.md cannot be read/],
  [["cli", "do this", "-p", "that"], /cannot be combined[\s\S]*once/],
  [["cli", "-p", "x", "-f", "y"], /cannot be combined/],
  [["cli", "-p", "x", "--resume", "a", "--fork", "b"], /cannot be combined/],
  [["cli", "-p", "x", "--resume", "job-2026-01-01-nothere"], /no job job-2026-01-01-nothere/],
  [[], /name of the agent is missing/],
];

test("explains why a job cannot run before starting it", async () => {
  const harness = await startCliHarness();
  for (const [args, message] of usageErrors) {
    const run = await harness.run("trigger", ...args, "--wait");
    expect(run, args.join(" ")).toMatchObject({ code: 2, stdout: "" });
    expect(run.stderr).toMatch(message);
  }
  expect(JSON.parse((await harness.run("jobs", "--json")).stdout)).toEqual({
    jobs: [],
    next_cursor: null,
  });
});

test("prints the id and one final line without --wait", async () => {
  const harness = await startCliHarness();
  const run = await harness.run("trigger", "cli", "-p", "hello");
  const [id, ending, ...rest] = run.stdout.split("\n");
  expect(run).toMatchObject({ code: 0, stderr: "" });
  expect(id).toMatch(/^job-/);
  expect(ending).toMatch(new RegExp(`^✓ ${id} success {2}[\\d.]+ s · \\$`));
  expect(rest).toEqual([""]);
});

test("exits with 1 for a refused credential and with 0 for a denied tool, with a hint for both", async () => {
  const harness = await startCliHarness({
    rules: [
      { match: { prompt: "refused" }, fault: { status: 401 } },
      {
        match: { prompt: "denied" },
        replies: [{ tools: [{ name: "Bash", input: { command: "touch x" } }] }, "Done."],
      },
    ],
  });
  const refused = await harness.run("trigger", "cli", "-p", "refused", "--wait");
  expect(refused.code).toBe(1);
  expect(refused.stdout).toMatch(/✗ auth_failed[\s\S]*ANTHROPIC_API_KEY/);
  const denied = await harness.run("trigger", "asks", "-p", "denied", "--wait");
  expect(denied.code).toBe(0);
  expect(denied.stdout).toMatch(/! finished_with_denials .*Bash was denied[\s\S]*allowed_tools/);
  expect(readdirSync(harness.workspace)).toEqual([]);
});

const sleeping = {
  rules: [
    {
      replies: [
        {
          tools: [
            {
              name: "Bash",
              input: { command: "setsid sleep 300 & echo begun > begun; sleep 300" },
            },
          ],
        },
        "I have slept.",
      ],
    },
  ],
};

function processesOf(job: { id: string }): string[] {
  return readdirSync("/proc").filter((pid) => {
    try {
      return readFileSync(`/proc/${pid}/environ`, "latin1").includes(`HERDCTL_JOB=${job.id}`);
    } catch {
      return false;
    }
  });
}

async function waitUntilToolRuns(harness: CliHarness): Promise<void> {
  await waitUntil(() => readdirSync(harness.workspace).includes("begun"));
}

const signalCases: [signals: NodeJS.Signals[], outcome: string, status: string][] = [
  [["SIGINT"], "cancelled", "cancelled"],
  [["SIGINT", "SIGINT"], "cancelled", "cancelled"],
  [["SIGTERM"], "interrupted", "failed"],
];

test.each(testSubset(signalCases, 1))(
  "ends the job on %j as %s, records it and leaves no process",
  async (signals, code, status) => {
    const harness = await startCliHarness(sleeping);
    const { child, exited } = harness.start("trigger", "cli", "-p", "sleep", "--wait", "--json");
    await waitUntilToolRuns(harness);
    for (const signal of signals) {
      child.kill(signal);
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    const run = await exited;
    expect(run.code).toBe(1);
    const job = JSON.parse(run.stdout);
    expect(job).toMatchObject({ status, outcome: { code } });
    expect(job.session_id).toMatch(/^[0-9a-f-]{36}$/);
    expect(processesOf(job)).toEqual([]);
    expect(JSON.parse((await harness.run("job", job.id, "--json")).stdout)).toEqual(job);
  },
);

test("kills an unresponsive agent on the second Ctrl-C", async () => {
  const harness = await startCliHarness(sleeping);
  const { child, exited } = harness.start("trigger", "sdk", "-p", "sleep", "--wait", "--json");
  await waitUntilToolRuns(harness);
  const { jobs } = JSON.parse((await harness.run("jobs", "--json")).stdout);
  for (const pid of processesOf(jobs[0])) process.kill(Number(pid), "SIGSTOP");
  child.kill("SIGINT");
  await new Promise((resolve) => setTimeout(resolve, 200));
  const forcedAt = Date.now();
  child.kill("SIGINT");
  const job = JSON.parse((await exited).stdout);
  expect(Date.now() - forcedAt).toBeLessThan(2_500);
  expect(job).toMatchObject({ status: "cancelled", outcome: { code: "cancelled" } });
  expect(processesOf(job)).toEqual([]);
});

test("finishes and records a job after its output pipe was closed", async () => {
  const harness = await startCliHarness(filesScript);
  const { child, exited } = harness.start("trigger", "cli", "-p", "which files?", "--wait");
  child.stdout?.once("data", () => child.stdout?.destroy());
  expect((await exited).code).toBe(0);
  const { jobs } = JSON.parse((await harness.run("jobs", "--json")).stdout);
  expect(jobs).toMatchObject([{ status: "completed", summary: "There are apples." }]);
});

test("makes a second trigger wait for the first", async () => {
  const harness = await startCliHarness({
    rules: [
      {
        match: { prompt: "slow" },
        replies: [
          { tools: [{ name: "Bash", input: { command: "until [ -e go ]; do sleep 0.05; done" } }] },
          "Slow.",
        ],
      },
    ],
  });
  const first = harness.start("trigger", "cli", "-p", "slow", "--json");
  await waitUntil(() => harness.rehearsal.ledger.main.length > 0);
  const second = harness.start("trigger", "sdk", "-p", "quick", "--json");
  let output = "";
  second.child.stderr?.on("data", (text) => {
    output += text;
  });
  await waitUntil(() => output.includes("Waiting"));
  writeFileSync(join(harness.workspace, "go"), "");
  const early = JSON.parse((await first.exited).stdout);
  const { code, stdout } = await second.exited;
  expect(code).toBe(0);
  const late = JSON.parse(stdout);
  expect(Date.parse(late.created_at)).toBeGreaterThanOrEqual(Date.parse(early.finished_at));
});
