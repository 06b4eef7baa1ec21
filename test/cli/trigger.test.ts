import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { sliceOf, wideTest } from "../support/width.ts";
import { type FleetStage, fleetStage, logged, until } from "./fleet-stage.ts";
import { endOf } from "./herdctl.ts";

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

const blocks = (messages: ReturnType<typeof logged>) =>
  messages.flatMap(({ type, subtype, message }) => {
    const content = message?.content;
    const kinds = Array.isArray(content) ? content.map((block) => block.type) : [];
    return kinds.length > 0 ? kinds : [subtype === "init" ? "init" : type];
  });

test.each(["sdk", "cli", "file"])(
  "a job of the agent `%s` is run, recorded and told truly",
  async (agent) => {
    const on = await fleetStage(filesScript);
    const run = await on.run("trigger", agent, "-p", "which files?", "--wait", "--json");
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
    const kinds = blocks(logged(job));
    const order = ["init", "text", "tool_use", "tool_result", "text", "result"];
    expect(kinds.filter((kind) => order.includes(kind))).toEqual(order);
  },
);

wideTest(
  "an earlier conversation is resumed by job, by session and by the start of an id, or forked",
  async () => {
    const on = await fleetStage();
    const first = await on.trigger("cli", "-p", "first");
    const byJob = await on.trigger("cli", "--resume", first.id, "-p", "second");
    expect(byJob).toMatchObject({ status: "completed", session_id: first.session_id });
    const bySession = await on.trigger("cli", "--resume", first.session_id ?? "", "-p", "third");
    expect(bySession.session_id).toBe(first.session_id);
    const fork = await on.trigger(
      "cli",
      "--fork",
      byJob.id.slice("job-2026-01-01-".length, -2),
      "-p",
      "fourth",
    );
    expect(fork).toMatchObject({ status: "completed", forked_from: first.session_id });
    expect(fork.session_id).not.toBe(first.session_id);
    const last = on.rehearsal.ledger.main.at(-1);
    const conversation = JSON.stringify(last?.body);
    for (const prompt of ["first", "second", "third", "fourth"])
      expect(conversation).toContain(prompt);
  },
);

test("the same key runs once, and shows the first job ever after", async () => {
  const on = await fleetStage();
  const first = await on.trigger("cli", "-p", "hello", "--key", "k1");
  const again = await on.run("trigger", "cli", "-p", "something else", "--key", "k1", "--json");
  expect(again.code).toBe(0);
  expect(JSON.parse(again.stdout)).toEqual(first);
  expect(on.rehearsal.ledger.main).toHaveLength(1);
});

wideTest(
  "the prompt comes from a file, from standard input, from a schedule or from the agent",
  async () => {
    const on = await fleetStage();
    writeFileSync(join(on.folder, "task.md"), "the prompt in a file");
    const jobs = [
      await on.trigger("cli", "-f", "task.md"),
      await on.trigger("cli", "--schedule", "nightly"),
      await on.trigger("sdk"),
    ];
    const { child } = on.start("trigger", "cli", "-", "--wait", "--json");
    const piped = endOf(child);
    child.stdin?.end("the prompt from a pipe");
    jobs.push(JSON.parse((await piped).stdout));
    const prompts = [
      "the prompt in a file",
      "the nightly prompt",
      "hello",
      "the prompt from a pipe",
    ];
    expect(jobs.map((job) => job.prompt)).toEqual(prompts);
    expect(on.rehearsal.ledger.main.map((entry) => entry.prompt)).toEqual(prompts);
  },
);

const mistakes: [args: string[], told: RegExp][] = [
  [["nobody", "-p", "x"], /no agent `nobody`[\s\S]*sdk, cli, file, asks/],
  [["cli", "--schedule", "weekly"], /no schedule `weekly`[\s\S]*nightly/],
  [["cli"], /nothing to tell `cli`/],
  [["cli", "-p", "  "], /nothing to tell `cli`/],
  [["cli", "-f", "nowhere.md"], /nowhere\.md cannot be read/],
  [["cli", "do this"], /`do this` is not understood[\s\S]*-p/],
  [["cli", "-p", "x", "-f", "y"], /do not go together/],
  [["cli", "-p", "x", "--resume", "a", "--fork", "b"], /do not go together/],
  [["cli", "-p", "x", "--resume", "job-2026-01-01-nothere"], /no job job-2026-01-01-nothere/],
  [[], /which agent/],
];

test("what cannot be run is told before anything is", async () => {
  const on = await fleetStage();
  for (const [args, told] of mistakes) {
    const run = await on.run("trigger", ...args, "--wait");
    expect(run, args.join(" ")).toMatchObject({ code: 2, stdout: "" });
    expect(run.stderr).toMatch(told);
  }
  expect(JSON.parse((await on.run("jobs", "--json")).stdout)).toEqual({ jobs: [], next: null });
});

test("without --wait the id is printed, and one line at the end", async () => {
  const on = await fleetStage();
  const run = await on.run("trigger", "cli", "-p", "hello");
  const [id, ending, ...rest] = run.stdout.split("\n");
  expect(run).toMatchObject({ code: 0, stderr: "" });
  expect(id).toMatch(/^job-/);
  expect(ending).toMatch(new RegExp(`^✓ ${id} success {2}[\\d.]+ s · \\$`));
  expect(rest).toEqual([""]);
});

test("a refused credential ends with 1, a denied tool with 0, and both say what to do", async () => {
  const on = await fleetStage({
    rules: [
      { match: { prompt: "refused" }, fault: { status: 401 } },
      {
        match: { prompt: "denied" },
        replies: [{ tools: [{ name: "Bash", input: { command: "touch x" } }] }, "Done."],
      },
    ],
  });
  const refused = await on.run("trigger", "cli", "-p", "refused", "--wait");
  expect(refused.code).toBe(1);
  expect(refused.stdout).toMatch(/✗ auth_failed[\s\S]*ANTHROPIC_API_KEY/);
  const denied = await on.run("trigger", "asks", "-p", "denied", "--wait");
  expect(denied.code).toBe(0);
  expect(denied.stdout).toMatch(/✓ finished_with_denials .*Bash was denied[\s\S]*allowed_tools/);
  expect(readdirSync(on.workspace)).toEqual([]);
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

async function atWork(on: FleetStage): Promise<void> {
  await until(() => readdirSync(on.workspace).includes("begun"));
}

const stops: [signals: NodeJS.Signals[], outcome: string, status: string][] = [
  [["SIGINT"], "cancelled", "cancelled"],
  [["SIGINT", "SIGINT"], "cancelled", "cancelled"],
  [["SIGTERM"], "interrupted", "failed"],
];

test.each(sliceOf(stops, 1))(
  "%j ends the job as %s, records it and leaves no process",
  async (signals, code, status) => {
    const on = await fleetStage(sleeping);
    const { child, ended } = on.start("trigger", "cli", "-p", "sleep", "--wait", "--json");
    await atWork(on);
    for (const signal of signals) {
      child.kill(signal);
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    const run = await ended;
    expect(run.code).toBe(1);
    const job = JSON.parse(run.stdout);
    expect(job).toMatchObject({ status, outcome: { code } });
    expect(job.session_id).toMatch(/^[0-9a-f-]{36}$/);
    expect(processesOf(job)).toEqual([]);
    expect(JSON.parse((await on.run("job", job.id, "--json")).stdout)).toEqual(job);
  },
);

test("an agent that does not answer any more is ended by the second Ctrl-C", async () => {
  const on = await fleetStage(sleeping);
  const { child, ended } = on.start("trigger", "sdk", "-p", "sleep", "--wait", "--json");
  await atWork(on);
  const { jobs } = JSON.parse((await on.run("jobs", "--json")).stdout);
  for (const pid of processesOf(jobs[0])) process.kill(Number(pid), "SIGSTOP");
  child.kill("SIGINT");
  await new Promise((resolve) => setTimeout(resolve, 200));
  const forcedAt = Date.now();
  child.kill("SIGINT");
  const job = JSON.parse((await ended).stdout);
  expect(Date.now() - forcedAt).toBeLessThan(2_500);
  expect(job).toMatchObject({ status: "cancelled", outcome: { code: "cancelled" } });
  expect(processesOf(job)).toEqual([]);
});

test("a job is finished and recorded though nobody reads its output any more", async () => {
  const on = await fleetStage(filesScript);
  const { child, ended } = on.start("trigger", "cli", "-p", "which files?", "--wait");
  child.stdout?.once("data", () => child.stdout?.destroy());
  expect((await ended).code).toBe(0);
  const { jobs } = JSON.parse((await on.run("jobs", "--json")).stdout);
  expect(jobs).toMatchObject([{ status: "completed", summary: "There are apples." }]);
});

test("a second trigger waits for the first", async () => {
  const on = await fleetStage({
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
  const first = on.start("trigger", "cli", "-p", "slow", "--json");
  await until(() => on.rehearsal.ledger.main.length > 0);
  const second = on.start("trigger", "sdk", "-p", "quick", "--json");
  let said = "";
  second.child.stderr?.on("data", (text) => {
    said += text;
  });
  await until(() => said.includes("waiting"));
  writeFileSync(join(on.workspace, "go"), "");
  const early = JSON.parse((await first.ended).stdout);
  const { code, stdout } = await second.ended;
  expect(code).toBe(0);
  const late = JSON.parse(stdout);
  expect(Date.parse(late.created_at)).toBeGreaterThanOrEqual(Date.parse(early.finished_at));
});
