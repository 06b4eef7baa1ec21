import { dirname } from "node:path";
import type { Approval, FleetControl } from "@herdctl/protocol";
import { describe, expect, test } from "vitest";
import { runHerdctl, runHerdctlInTerminal } from "../cli/run-herdctl.ts";
import { readJob, startFleetProcess, waitUntil } from "../support/fleet-child-process.ts";
import { startHarness, type TestHarness } from "../support/harness.ts";
import { writeFleetFile } from "../support/in-process-fleet.ts";
import { readJobMessages } from "../support/run-job.ts";
import { toolCallPrompt, toolResultTexts } from "../support/runtimes-under-test.ts";
import { testSubset } from "../support/test-subset.ts";

const manualTrigger = { agent: "one" };
const colours = { question: "Which colour?", choices: ["Red", "Blue"] };
const askPrompt = (input: object) => toolCallPrompt(["mcp__herd__ask", input]);

async function startAskingFleet(runtime: string, more = "") {
  const harness = await startHarness({ mode: "obedient" });
  const file = writeFleetFile(
    harness,
    `  - { name: one, runtime: ${runtime}, tools: [ask]${more} }`,
  );
  const place = { cwd: dirname(file), env: harness.env };
  return {
    on: harness,
    file,
    run: (...args: string[]) => runHerdctl(args, place),
    inTerminal: (args: string[], keys: { when: string; type: string }[]) =>
      runHerdctlInTerminal(args, { ...place, keys }),
  };
}

async function waitForQuestion(control: FleetControl): Promise<Approval> {
  const [first] = await waitUntil("the question", async () => {
    const open = await control.approvals.list();
    return open.length > 0 && open;
  });
  if (!first) throw new Error("nothing is asked");
  return first;
}

async function readToolResults(control: FleetControl, jobId: string): Promise<string> {
  return toolResultTexts(await readJobMessages(await control.jobs.wait(jobId))).join();
}

describe.each(testSubset(["cli", "sdk"], 1))("runtime: %s", (runtime) => {
  test("shows a question in another terminal and accepts the answer there", async () => {
    const { on, file, run } = await startAskingFleet(runtime);
    const { control, stop } = await startFleetProcess(on, file);
    const { job } = await control.jobs.trigger({ ...manualTrigger, prompt: askPrompt(colours) });
    const { id } = await waitForQuestion(control);
    await waitUntil(
      "it to wait",
      async () => (await readJob(control, job.id)).status === "waiting",
    );

    const [list, status, record] = await Promise.all([
      run("approvals"),
      run("status"),
      run("job", job.id),
    ]);
    for (const { stdout } of [list, record]) {
      expect(stdout).toMatch(/Which colour\?\n +1 +Red\n +2 +Blue\n/);
      expect(stdout).toContain(`herdctl answer ${id} --choice NUMBER`);
    }
    expect(status.stdout).toContain("? one asks: Which colour? (Red, Blue)");

    const refused = await run("answer", id, "Green");
    expect(refused).toMatchObject({ code: 2, stdout: "" });
    expect(refused.stderr).toContain("not among the choices: Red, Blue");
    expect(await run("approvals", "allow", id)).toMatchObject({ code: 2 });
    expect(await run("answer", id, "--choice", "3")).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("1 Red, 2 Blue"),
    });
    const answered = await run("answer", id.slice("approval-".length, -2), "--choice", "2");
    expect(answered).toMatchObject({ code: 0, stdout: `✓ answered  Blue  ${id}\n` });
    expect(await readToolResults(control, job.id)).toContain("A person answered: Blue");
    expect(await run("answer", id, "Red")).toMatchObject({ code: 2 });
    await stop();
  });

  test("keeps the same question across a fleet kill and accepts one answer", async () => {
    const { on, file, run } = await startAskingFleet(runtime);
    const first = await startFleetProcess(on, file);
    const { job } = await first.control.jobs.trigger({
      ...manualTrigger,
      prompt: askPrompt(colours),
    });
    const { id } = await waitForQuestion(first.control);
    await first.kill();

    const second = await startFleetProcess(on, file);
    expect(await second.control.approvals.list()).toMatchObject([
      { id, question: "Which colour?" },
    ]);
    expect(await run("answer", id, "red")).toMatchObject({ code: 0 });
    expect(await readToolResults(second.control, job.id)).toContain("A person answered: Red");
    expect(await readJob(second.control, job.id)).toMatchObject({
      attempts: 1,
      outcome: { code: "success" },
    });
    expect(on.rehearsal.ledger.main).toHaveLength(2);
    await second.stop();
  });
});

test("records a question as expired when its time ends while no fleet runs", async () => {
  const { on, file } = await startAskingFleet("cli");
  const first = await startFleetProcess(on, file);
  const prompt = askPrompt({ ...colours, expires: "2s" });
  const { job } = await first.control.jobs.trigger({ ...manualTrigger, prompt });
  const { id } = await waitForQuestion(first.control);
  await first.kill();
  await new Promise((done) => setTimeout(done, 2_500));

  const second = await startFleetProcess(on, file);
  await expect(
    second.control.approvals.answer(id, { reply: "Red" }, { note: "a late one" }),
  ).rejects.toMatchObject({
    code: "approval_closed",
  });
  expect(await readToolResults(second.control, job.id)).toContain("There was no answer in time.");
  expect(await second.control.approvals.list()).toEqual([]);
  await second.stop();
});

test("publishes the expiry of a question together with the default that applies", async () => {
  const { on, file } = await startAskingFleet("cli", ", ask: { use_default: true }");
  const { control, stop } = await startFleetProcess(on, file);
  const subscription = new AbortController();
  const seen: Approval[] = [];
  const watching = (async () => {
    for await (const event of control.events({ signal: subscription.signal }))
      if (event.type === "approval:requested" || event.type === "approval:answered")
        seen.push(event.approval);
  })();
  const prompt = askPrompt({ ...colours, expires: "1s", default: "Blue" });
  const { job } = await control.jobs.trigger({ ...manualTrigger, prompt });
  expect(await readToolResults(control, job.id)).toContain("your default instead: Blue");
  subscription.abort();
  await watching;
  expect(seen).toMatchObject([
    { question: "Which colour?", default_reply: "Blue", answer: null },
    { answer: "default", reply: "Blue", answered_by: null },
  ]);
  await stop();
});

test("lets a person decline, and answers Claude Code's own questions the same way", async () => {
  const { on, file, run } = await startAskingFleet("cli");
  const { control, stop } = await startFleetProcess(on, file);
  const declined = await control.jobs.trigger({
    ...manualTrigger,
    prompt: askPrompt({ question: "Why?" }),
  });
  const first = await waitForQuestion(control);
  const reason = ["--reason", "ask the owner"];
  expect(await run("approvals", "deny", first.id, ...reason)).toMatchObject({ code: 0 });
  expect(await readToolResults(control, declined.job.id)).toContain(
    "A person declined to answer. The reason given: ask the owner",
  );

  const options = ["Red", "Blue"].map((label) => ({ label, description: "a colour" }));
  const question = { question: "Which ones?", header: "Which", multiSelect: true, options };
  const own = await control.jobs.trigger({
    ...manualTrigger,
    prompt: toolCallPrompt(["AskUserQuestion", { questions: [question] }]),
  });
  const second = await waitForQuestion(control);
  expect(second).toMatchObject({ kind: "question", tool: "AskUserQuestion", multiple: true });
  expect(await run("answer", second.id, "--choice", "1,2")).toMatchObject({ code: 0 });
  expect(await readToolResults(control, own.job.id)).toMatch(/Which ones\?\W+Red, Blue/);
  await stop();
});

async function startWithQuestion(
  input: object,
): Promise<Awaited<ReturnType<typeof startAskingFleet>> & AskedQuestion> {
  const place = await startAskingFleet("cli");
  const { control, stop } = await startFleetProcess(place.on, place.file);
  return { ...place, control, stop, prompt: askPrompt(input) };
}

interface AskedQuestion {
  control: FleetControl;
  stop(): Promise<void>;
  prompt: string;
}

test("asks at the terminal of the waiting command", async () => {
  const { inTerminal, control, stop, prompt, on } = await startWithQuestion(colours);
  const typed = `'${prompt}'`;
  const { code, screen } = await inTerminal(
    ["trigger", "one", "--wait", "-p", typed],
    [
      { when: "Your answer?", type: "\x1b[B" },
      { when: "Blue", type: "\r" },
    ],
  );
  expect(code).toBe(0);
  expect(screen).toContain("The agent asks");
  expect(JSON.stringify(lastRequest(on))).toContain("A person answered: Blue");
  expect(await control.approvals.list()).toEqual([]);
  await stop();
});

test("asks several questions one after the other, each with keyboard focus", async () => {
  const { inTerminal, stop, on } = await startWithQuestion({});
  const choose = (question: string, multiSelect: boolean) => ({
    question,
    header: "Choose",
    multiSelect,
    options: ["Red", "Blue"].map((label) => ({ label, description: "a colour" })),
  });
  const questions = [choose("Which ones?", true), choose("Which one?", false)];
  const prompt = `'${toolCallPrompt(["AskUserQuestion", { questions }])}'`;
  const { code, screen } = await inTerminal(
    ["trigger", "one", "--wait", "-p", prompt],
    [
      { when: "Your answers?", type: " \r" },
      { when: "Your answer?", type: "\x1b[B\x1b[B\r" },
      { when: "leave empty to decline", type: "green" },
      { when: "green", type: "\r" },
    ],
  );
  expect(code).toBe(0);
  expect(screen).toContain("You can choose more than one.");
  const request = JSON.stringify(lastRequest(on));
  expect(request).toMatch(/Which ones\?\W+Red/);
  expect(request).toMatch(/Which one\?\W+green/);
  await stop();
});

test("prints how to answer when there is no terminal", async () => {
  const { run, control, stop, prompt } = await startWithQuestion({ question: "How deep?" });
  const triggered = run("trigger", "one", "--wait", "-p", prompt);
  const { id } = await waitForQuestion(control);
  expect(await run("answer", id, "very deep")).toMatchObject({ code: 0 });
  const { code, stderr } = await triggered;
  expect(code).toBe(0);
  expect(stderr).toContain("How deep?");
  expect(stderr).toContain(`herdctl answer ${id} "TEXT"`);
  await stop();
});

test("does not wait for an answer without a fleet and a terminal", async () => {
  const { run, on } = await startAskingFleet("cli");
  const { code } = await run("trigger", "one", "-p", askPrompt(colours));
  expect(code).toBe(0);
  expect(JSON.stringify(lastRequest(on))).toContain("There is no person to ask.");
});

test("answers a question in top by number or by text", async () => {
  const { inTerminal, control, stop } = await startWithQuestion(colours);
  const first = await control.jobs.trigger({ ...manualTrigger, prompt: askPrompt(colours) });
  await waitForQuestion(control);
  const chosen = await inTerminal(
    ["top"],
    [
      { when: "asks: Which colour?", type: "a" },
      { when: "1–2 choose", type: "2" },
      { when: "success", type: "\x03" },
    ],
  );
  expect(chosen.code).toBe(0);
  expect(await readToolResults(control, first.job.id)).toContain("A person answered: Blue");

  const second = await control.jobs.trigger({
    ...manualTrigger,
    prompt: askPrompt({ question: "How deep?" }),
  });
  await waitForQuestion(control);
  const typed = await inTerminal(
    ["top"],
    [
      { when: "asks: How deep?", type: "a" },
      { when: "t type an answer", type: "t" },
      { when: "enter send", type: "quite deep" },
      { when: "quite deep", type: "\r" },
      { when: "enter log", type: "\x03" },
    ],
  );
  expect(typed.code).toBe(0);
  expect(await readToolResults(control, second.job.id)).toContain("A person answered: quite deep");
  await stop();
});

function lastRequest({ rehearsal }: TestHarness): unknown {
  return rehearsal.ledger.main.at(-1)?.body;
}
