import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { setTimeout as delay } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { Launcher } from "../../packages/core/src/runner/runtime/launcher.ts";
import type { ClaudeProcess, SpawnCommand } from "../../packages/core/src/runner/runtime/spawn.ts";
import { RunCgroup } from "../../packages/core/src/runner/sweep/cgroup.ts";
import { launcherToken } from "../../packages/core/src/runner/sweep/launcher-token.ts";
import { Leash } from "../../packages/core/src/runner/sweep/leash.ts";
import { sweepRun } from "../../packages/core/src/runner/sweep/sweep-run.ts";
import { isRunning, until } from "../runner-process/support.ts";
import { folderWith } from "../support/folder.ts";

let made = 0;

/** Each as if it were another runner's. */
function launcher() {
  made += 1;
  const runner = { pid: process.pid, start_time: `test-${made}`, boot_id: "" };
  const token = launcherToken(runner);
  const own = new Launcher(runner);
  onTestFinished(async () => {
    await own.end();
    await sweepRun(token);
  });
  return { own, token, pid: pidOf(token) };
}

/** Where lines are counted Node gives every child the variable for it. */
const telling = `
  let said = "";
  process.stdin.setEncoding("utf8").on("data", (part) => (said += part)).on("end", () => {
    const { env: { NODE_V8_COVERAGE, ...env }, argv } = process;
    console.log(JSON.stringify({ said, env, cwd: process.cwd(), args: argv.slice(1) }));
    console.error("on the other stream");
    process.exit(7);
  });`;

/** A program that tells what it was given. */
function command(given: Partial<SpawnCommand> = {}): SpawnCommand {
  return { file: process.execPath, args: ["-e", telling], cwd: folderWith({}), env: {}, ...given };
}

async function heard(program: ClaudeProcess, said: string) {
  program.stdin.end(said);
  const [stdout, stderr] = await Promise.all([text(program.stdout), text(program.stderr)]);
  return { told: JSON.parse(stdout), stderr, exit: await program.exited };
}

/** Every character of a byte but NUL, quotes and line ends among them, and some longer ones. */
const odd = `${String.fromCodePoint(...Array.from({ length: 255 }, (_, code) => code + 1))}ä😀`;

test("a launcher becomes the program, with its folder, its words and its variables alone", async () => {
  const { own, pid } = launcher();
  const env = { HERDCTL_RUN: "run-1", EMPTY: "", ODD: odd };
  const given = command({ env, args: ["-e", telling, odd, "", "it's"] });
  const program = own.spawn(given);
  expect(program.pid).toBe(await pid);
  expect(await heard(program, "a prompt\n")).toEqual({
    told: { said: "a prompt\n", env, cwd: given.cwd, args: [odd, "", "it's"] },
    stderr: "on the other stream\n",
    exit: { code: 7, signal: null },
  });
});

test.each([
  ["PWD", "/somewhere/else"],
  ["OPTIND", "none"],
  ["npm_config_//registry/:x", "y"],
])("the variable %s, of which a shell has its own idea, comes as it is", async (name, value) => {
  const { own, pid } = launcher();
  const program = own.spawn(command({ env: { [name]: value } }));
  expect(program.pid).not.toBe(await pid);
  expect((await heard(program, "")).told.env).toEqual({ [name]: value });
});

test("a program that is not there is told apart, as without a launcher", async () => {
  const { own } = launcher();
  const { exited, stdin } = own.spawn(command({ file: join(folderWith({}), "claude") }));
  stdin.end();
  expect(await exited).toEqual({ code: null, signal: null, failure: "ENOENT" });
});

test("a folder that is gone by then keeps the program from starting", async () => {
  const { own } = launcher();
  const program = own.spawn(command({ cwd: "/nowhere/at/all" }));
  program.stdout.resume();
  expect(await text(program.stderr)).toContain("/nowhere/at/all");
  expect(await program.exited).toMatchObject({ code: 2 });
});

test("a launcher becomes one program; the next is started without it", async () => {
  const { own, pid } = launcher();
  const first = own.spawn(command());
  const second = own.spawn(command());
  expect(second.pid).not.toBe(await pid);
  for (const program of [first, second])
    expect((await heard(program, "")).exit).toEqual({ code: 7, signal: null });
});

test("a launcher that somebody killed is not waited for: the program is started without it", async () => {
  const { own, pid } = launcher();
  const shell = await pid;
  process.kill(shell, "SIGKILL");
  await until(() => !isRunning(shell));
  await delay(50);
  expect((await heard(own.spawn(command()), "")).exit).toEqual({ code: 7, signal: null });
});

test("a launcher that is never told ends, and leaves no control group", async () => {
  const { own, pid, token } = launcher();
  const shell = await pid;
  expect(isRunning(shell)).toBe(true);
  await own.end();
  expect(isRunning(shell)).toBe(false);
  expect(RunCgroup.tokens()).not.toContain(token);
});

test("what it became is in its control group from the first instruction on, and ends with it", async () => {
  const { own, token } = launcher();
  const leash = new Leash("run-of-a-launcher");
  const slip = "cat /proc/self/cgroup; env -i setsid -f sleep 600.73 >/dev/null 2>&1";
  const program = own.spawn(command({ file: "/bin/sh", args: ["-c", slip] }));
  leash.hold(program.pid ?? 0, program.group);
  program.stdin.end();
  program.stderr.resume();
  const groups = await text(program.stdout);
  await program.exited;
  const [sleeper = 0] = sleeping("600.73");
  const { knownBy } = await leash.kill();
  const survived = isRunning(sleeper);
  if (survived) process.kill(sleeper, "SIGKILL");

  // Where no group may be made nobody can catch one that has cleaned its environment.
  expect(survived).toBe(knownBy !== "cgroup");
  expect(groups.includes(token)).toBe(program.group !== undefined);
  expect(RunCgroup.tokens()).not.toContain(token);
});

test("a run that has a control group already keeps it, and the launcher's goes", async () => {
  const { own, token } = launcher();
  const leash = new Leash("run-with-a-server");
  const program = own.spawn(command());
  const server = own.spawn(command());
  leash.holdServer(server.pid ?? 0);
  leash.hold(program.pid ?? 0, program.group);
  await Promise.all([heard(program, ""), heard(server, "")]);
  await leash.kill();
  await until(() => !RunCgroup.tokens().includes(token));
});

test("one that was told just before its runner died, and has not begun yet, is found and ended", async () => {
  const { own, pid, token } = launcher();
  const shell = await pid;
  process.kill(shell, "SIGSTOP");
  const program = own.spawn(command({ env: { HERDCTL_RUN: "run-2" } }));
  program.stdout.resume();
  expect(await sweepRun(token)).toMatchObject({ killed: 1, left: [] });
  expect(await program.exited).toMatchObject({ code: null });
  expect(await sweepRun("run-2")).toMatchObject({ killed: 0 });
});

/** Once it is there. */
function pidOf(token: string): Promise<number> {
  return until(() => pids().find((pid) => read(pid, "environ").includes(`HERDCTL_RUN=${token}`)));
}

function sleeping(seconds: string): number[] {
  return pids().filter((pid) => read(pid, "cmdline") === `sleep\0${seconds}\0`);
}

function pids(): number[] {
  return readdirSync("/proc").map(Number).filter(Number.isInteger);
}

function read(pid: number, name: string): string {
  try {
    return readFileSync(`/proc/${pid}/${name}`, "utf8");
  } catch {
    return "";
  }
}
