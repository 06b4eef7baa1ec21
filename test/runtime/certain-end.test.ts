import { spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { text } from "node:stream/consumers";
import { setImmediate as breathe, setTimeout as delay } from "node:timers/promises";
import { describe, expect, onTestFinished, test } from "vitest";
import { codeAtEnd } from "../../packages/core/src/runner/runtime/certain-end.ts";
import { watchProcess } from "../../packages/core/src/runner/runtime/observe.ts";
import { type ClaudeProcess, spawnOnHost } from "../../packages/core/src/runner/runtime/spawn.ts";
import { endProcess } from "../../packages/core/src/runner/runtime/wind-down.ts";
import { Leash, type LeashOptions } from "../../packages/core/src/runner/sweep/leash.ts";

/** So much memory takes the system a moment to free, as that of `claude` does. */
const large = "globalThis.kept = Buffer.alloc(1024 * 1024 * 1024, 1);";

/** A program that goes when its input ends, as `claude` does. */
function program(atEnd: string): ClaudeProcess {
  const args = [
    "-e",
    `${large} console.log("up"); process.stdin.resume().on("end", () => { ${atEnd} })`,
  ];
  const started = spawnOnHost({ file: process.execPath, args, cwd: "/", env: {} });
  onTestFinished(() => started.kill("SIGKILL"));
  return started;
}

function holdUp(milliseconds: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds);
}

async function up({ stdout }: ClaudeProcess): Promise<void> {
  await new Promise((heard) => stdout.once("data", heard));
}

describe("a process that was told to go", () => {
  test("is over with its last instruction, before the system has cleared it away", async () => {
    const own = program("process.exit(0)");
    const watched = watchProcess(own);
    await up(watched);
    const order: string[] = [];
    const told = own.exited.then(() => order.push("told"));
    const certain = watched.exited.then(() => order.push("certain"));
    watched.stdin.end();
    void endProcess(watched);
    await Promise.all([told, certain]);
    expect(order).toEqual(["certain", "told"]);
    expect(await watched.exited).toEqual({ code: 0, signal: null });
  });

  test("has been heard to its end, also by somebody who was busy meanwhile", async () => {
    const own = program(`setTimeout(() => {
      require("fs").writeSync(1, "x".repeat(60_000));
      console.error("last");
      process.exit(0);
    }, 20)`);
    let stderr = "";
    const watched = watchProcess(own, { stderr: (more) => (stderr += more) });
    await up(watched);
    watched.stdin.end();
    await delay(5);
    void endProcess(watched);
    // The next look at the process then comes before one at its pipes.
    await breathe();
    holdUp(150);
    expect(await text(watched.stdout)).toBe("x".repeat(60_000));
    await watched.exited;
    expect(stderr).toBe("last\n");
  });

  test("tells of its failure by the system's own word", async () => {
    const own = program("process.exit(3)");
    const watched = watchProcess(own);
    await up(watched);
    watched.stdin.end();
    await endProcess(watched);
    expect(await watched.exited).toEqual({ code: 3, signal: null });
    expect(existsSync(`/proc/${own.pid}`)).toBe(false);
  });
});

test.each<[string, LeashOptions]>([
  ["with a control group where one may be made", {}],
  ["by marker and descendants alone", { cgroup: false }],
])("whoever ended a run leaves no dead process to others, %s", async (_way, options) => {
  const leash = new Leash(`certain-end-${process.pid}`, options);
  const own = program("process.exit(0)");
  const watched = watchProcess(own, { spawned: (pid) => pid && leash.hold(pid) });
  await up(watched);
  watched.stdin.end();
  await endProcess(watched);
  await leash.kill();
  expect(existsSync(`/proc/${own.pid}`)).toBe(false);
});

describe("what the process table shows of an end", () => {
  const leaving = 0x40040c;
  const atWork = 0x400000;
  const stat = (flags: number, code = 0) =>
    `7 (a (b) c) Z 1 7 7 0 -1 ${flags} ${"0 ".repeat(42)}${code}\n`;

  test.each([
    ["all threads leave", stat(leaving), [stat(leaving), stat(leaving)], 0],
    ["with a failure", stat(leaving, 256), [stat(leaving, 256)], 256],
    ["killed", stat(leaving, 9), [stat(leaving, 9)], 9],
    [
      "the first has gone, another is at work",
      stat(leaving),
      [stat(leaving), stat(atWork)],
      undefined,
    ],
  ])("%s", (_name, process, threads, code) => {
    expect(codeAtEnd(process, threads)).toBe(code);
  });

  test("is read from where the system writes it", async () => {
    const child = spawn("sh", ["-c", "exit 5"]);
    let last = "";
    // Until our own loop turns, nobody takes the dead away.
    const deadline = Date.now() + 5_000;
    while (Date.now() < deadline && !/\) Z /.test(last))
      last = readFileSync(`/proc/${child.pid}/stat`, "latin1");
    expect(codeAtEnd(last, [last])).toBe(5 << 8);
  });
});
