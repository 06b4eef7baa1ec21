import { dirname } from "node:path";
import type { Approval, FleetControl } from "@herdctl/core";
import { describe, expect, test } from "vitest";
import { herdctl, herdctlInTerminal } from "../cli/herdctl.ts";
import { fleetFile } from "../support/fleet-process.ts";
import { fleetProgram, jobNow, until } from "../support/fleet-program.ts";
import { logOf } from "../support/job.ts";
import { obey, toolResults } from "../support/runtime.ts";
import { type Stage, stage } from "../support/stage.ts";
import { sliceOf } from "../support/width.ts";

const manual = { trigger: "manual" as const, agent: "one" };
const colours = { question: "Which colour?", choices: ["Red", "Blue"] };
const ask = (input: object) => obey(["mcp__herd__ask", input]);

async function asking(runtime: string, more = "") {
  const on = await stage({ mode: "obedient" });
  const file = fleetFile(on, `  - { name: one, runtime: ${runtime}, tools: [ask]${more} }`);
  const place = { cwd: dirname(file), env: on.env };
  return {
    on,
    file,
    run: (...args: string[]) => herdctl(args, place),
    inTerminal: (args: string[], keys: { when: string; type: string }[]) =>
      herdctlInTerminal(args, { ...place, keys }),
  };
}

async function asked(control: FleetControl): Promise<Approval> {
  const [first] = await until("the question", async () => {
    const open = await control.approvals();
    return open.length > 0 && open;
  });
  if (!first) throw new Error("nothing is asked");
  return first;
}

async function toldTo(control: FleetControl, jobId: string): Promise<string> {
  return toolResults(await logOf(await control.wait(jobId))).join();
}

describe.each(sliceOf(["cli", "sdk"], 1))("runtime: %s", (runtime) => {
  test("a question is seen and answered from another terminal", async () => {
    const { on, file, run } = await asking(runtime);
    const { control, stop } = await fleetProgram(on, file);
    const { job } = await control.trigger({ ...manual, prompt: ask(colours) });
    const { id } = await asked(control);
    await until("it to wait", async () => (await jobNow(control, job.id)).status === "waiting");

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
    expect(await toldTo(control, job.id)).toContain("A person answered: Blue");
    expect(await run("answer", id, "Red")).toMatchObject({ code: 2 });
    await stop();
  });

  test("the fleet is killed while it waits and started again: the question is the same, and answered once", async () => {
    const { on, file, run } = await asking(runtime);
    const first = await fleetProgram(on, file);
    const { job } = await first.control.trigger({ ...manual, prompt: ask(colours) });
    const { id } = await asked(first.control);
    await first.kill();

    const second = await fleetProgram(on, file);
    expect(await second.control.approvals()).toMatchObject([{ id, question: "Which colour?" }]);
    expect(await run("answer", id, "red")).toMatchObject({ code: 0 });
    expect(await toldTo(second.control, job.id)).toContain("A person answered: Red");
    expect(await jobNow(second.control, job.id)).toMatchObject({
      attempts: 1,
      outcome: { code: "success" },
    });
    expect(on.rehearsal.ledger.main).toHaveLength(2);
    await second.stop();
  });
});

test("a question whose time ends while no fleet runs is not answered, and on record as that", async () => {
  const { on, file } = await asking("cli");
  const first = await fleetProgram(on, file);
  const prompt = ask({ ...colours, expires: "2s" });
  const { job } = await first.control.trigger({ ...manual, prompt });
  const { id } = await asked(first.control);
  await first.kill();
  await new Promise((done) => setTimeout(done, 2_500));

  const second = await fleetProgram(on, file);
  await expect(second.control.answer(id, { reply: "Red" }, "a late one")).rejects.toMatchObject({
    code: "approval_closed",
  });
  expect(await toldTo(second.control, job.id)).toContain("Nobody answered in time.");
  expect(await second.control.approvals()).toEqual([]);
  await second.stop();
});

test("the end of its time is told to those who look on, with the default that counts then", async () => {
  const { on, file } = await asking("cli", ", ask: { use_default: true }");
  const { control, stop } = await fleetProgram(on, file);
  const looking = new AbortController();
  const seen: Approval[] = [];
  const watching = (async () => {
    for await (const event of control.events(looking.signal))
      if (event.type === "approval:asked" || event.type === "approval:answered")
        seen.push(event.approval);
  })();
  const prompt = ask({ ...colours, expires: "1s", default: "Blue" });
  const { job } = await control.trigger({ ...manual, prompt });
  expect(await toldTo(control, job.id)).toContain("your default counts: Blue");
  looking.abort();
  await watching;
  expect(seen).toMatchObject([
    { question: "Which colour?", default_reply: "Blue", answer: null },
    { answer: "default", reply: "Blue", answered_by: null },
  ]);
  await stop();
});

test("a person may decline, and a question of Claude Code's own is answered in the same way", async () => {
  const { on, file, run } = await asking("cli");
  const { control, stop } = await fleetProgram(on, file);
  const declined = await control.trigger({ ...manual, prompt: ask({ question: "Why?" }) });
  const first = await asked(control);
  const reason = ["--reason", "ask the owner"];
  expect(await run("approvals", "deny", first.id, ...reason)).toMatchObject({ code: 0 });
  expect(await toldTo(control, declined.job.id)).toContain(
    "A person declined to answer. The reason given: ask the owner",
  );

  const options = ["Red", "Blue"].map((label) => ({ label, description: "a colour" }));
  const question = { question: "Which ones?", header: "Which", multiSelect: true, options };
  const own = await control.trigger({
    ...manual,
    prompt: obey(["AskUserQuestion", { questions: [question] }]),
  });
  const second = await asked(control);
  expect(second).toMatchObject({ kind: "question", tool: "AskUserQuestion", several: true });
  expect(await run("answer", second.id, "--choice", "1,2")).toMatchObject({ code: 0 });
  expect(await toldTo(control, own.job.id)).toMatch(/Which ones\?\W+Red, Blue/);
  await stop();
});

async function waiting(input: object): Promise<Awaited<ReturnType<typeof asking>> & Asked> {
  const place = await asking("cli");
  const { control, stop } = await fleetProgram(place.on, place.file);
  return { ...place, control, stop, prompt: ask(input) };
}

interface Asked {
  control: FleetControl;
  stop(): Promise<void>;
  prompt: string;
}

test("whoever waits at a terminal is asked there", async () => {
  const { inTerminal, control, stop, prompt, on } = await waiting(colours);
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
  expect(await control.approvals()).toEqual([]);
  await stop();
});

test("several questions are asked one after the other, and each has the keys", async () => {
  const { inTerminal, stop, on } = await waiting({});
  const choose = (question: string, multiSelect: boolean) => ({
    question,
    header: "Choose",
    multiSelect,
    options: ["Red", "Blue"].map((label) => ({ label, description: "a colour" })),
  });
  const questions = [choose("Which ones?", true), choose("Which one?", false)];
  const prompt = `'${obey(["AskUserQuestion", { questions }])}'`;
  const { code, screen } = await inTerminal(
    ["trigger", "one", "--wait", "-p", prompt],
    [
      { when: "Your answers?", type: " \r" },
      { when: "Your answer?", type: "\x1b[B\x1b[B\r" },
      { when: "nothing declines", type: "green" },
      { when: "green", type: "\r" },
    ],
  );
  expect(code).toBe(0);
  expect(screen).toContain("More than one may be chosen.");
  const told = JSON.stringify(lastRequest(on));
  expect(told).toMatch(/Which ones\?\W+Red/);
  expect(told).toMatch(/Which one\?\W+green/);
  await stop();
});

test("where nobody sits at a terminal it is printed how to answer", async () => {
  const { run, control, stop, prompt } = await waiting({ question: "How deep?" });
  const triggered = run("trigger", "one", "--wait", "-p", prompt);
  const { id } = await asked(control);
  expect(await run("answer", id, "very deep")).toMatchObject({ code: 0 });
  const { code, stderr } = await triggered;
  expect(code).toBe(0);
  expect(stderr).toContain("How deep?");
  expect(stderr).toContain(`herdctl answer ${id} "TEXT"`);
  await stop();
});

test("with no fleet and nobody at a terminal, nobody is waited for", async () => {
  const { run, on } = await asking("cli");
  const { code } = await run("trigger", "one", "-p", ask(colours));
  expect(code).toBe(0);
  expect(JSON.stringify(lastRequest(on))).toContain("Nobody is there to be asked.");
});

test("in top a question is answered by a number or by words", async () => {
  const { inTerminal, control, stop } = await waiting(colours);
  const first = await control.trigger({ ...manual, prompt: ask(colours) });
  await asked(control);
  const chosen = await inTerminal(
    ["top"],
    [
      { when: "asks: Which colour?", type: "a" },
      { when: "1–2 choose", type: "2" },
      { when: "success", type: "\x03" },
    ],
  );
  expect(chosen.code).toBe(0);
  expect(await toldTo(control, first.job.id)).toContain("A person answered: Blue");

  const second = await control.trigger({ ...manual, prompt: ask({ question: "How deep?" }) });
  await asked(control);
  const typed = await inTerminal(
    ["top"],
    [
      { when: "asks: How deep?", type: "a" },
      { when: "t type an answer", type: "t" },
      { when: "enter answer", type: "quite deep" },
      { when: "quite deep", type: "\r" },
      { when: "enter log", type: "\x03" },
    ],
  );
  expect(typed.code).toBe(0);
  expect(await toldTo(control, second.job.id)).toContain("A person answered: quite deep");
  await stop();
});

function lastRequest({ rehearsal }: Stage): unknown {
  return rehearsal.ledger.main.at(-1)?.body;
}
