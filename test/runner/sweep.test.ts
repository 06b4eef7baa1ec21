import { type ChildProcess, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { describe, expect, onTestFinished, test } from "vitest";
import {
  groupNamed,
  parseCgroupMount,
  parseOwnGroup,
} from "../../packages/core/src/runner/sweep/cgroup.ts";
import { lineage, livingFamily } from "../../packages/core/src/runner/sweep/family.ts";
import { Leash, type LeashOptions } from "../../packages/core/src/runner/sweep/leash.ts";
import { carriesMarker } from "../../packages/core/src/runner/sweep/marker.ts";
import {
  parsePs,
  parseStat,
  readProcess,
} from "../../packages/core/src/runner/sweep/process-table.ts";
import { sweepRun } from "../../packages/core/src/runner/sweep/sweep-run.ts";
import { folderWith, writeFiles } from "../support/folder.ts";

const ways: [string, LeashOptions][] = [
  ["with a control group where one may be made", {}],
  ["by marker and descendants alone", { cgroup: false }],
];

describe.each(ways)("what a run left behind, %s", (_way, options) => {
  test("goes when it has left its session and lost its parent", async () => {
    const run = await finished("setsid nohup sleep 600 >/dev/null 2>&1 & echo $! > child", options);
    expect(isAlive(run.pid("child"))).toBe(true);

    expect(await run.leash.kill()).toMatchObject({ killed: 1, left: [] });
    expect(isAlive(run.pid("child"))).toBe(false);
  });

  test("goes when it became a daemon by forking twice", async () => {
    const run = await finished("(setsid sh -c 'sleep 600 & echo $! > child' &)", options);
    await run.wrote("child");
    await run.leash.kill();
    expect(isAlive(run.pid("child"))).toBe(false);
  });

  test("is asked to end first", async () => {
    const polite = `trap "echo bye > farewell; exit" TERM; echo $$ > child; while :; do sleep 0.02; done`;
    const run = await finished(`setsid sh -c '${polite}' &`, options);
    await run.wrote("child");
    await run.leash.kill();
    expect(run.read("farewell")).toBe("bye");
  });

  test("goes though it does not heed SIGTERM", async () => {
    const stubborn = `trap "" TERM; echo $$ > child; while :; do sleep 1; done`;
    const run = await finished(`setsid sh -c '${stubborn}' &`, options);
    await run.wrote("child");
    expect((await run.leash.kill()).left).toEqual([]);
    expect(isAlive(run.pid("child"))).toBe(false);
  });

  test("goes with a clean environment if it was once seen as a descendant", async () => {
    const run = start("env -i setsid sleep 600 & echo $! > child; read again", options);
    await run.wrote("child");
    await delay(50);
    run.leash.glance();
    run.say("go on");
    await run.exited;
    expect(isAlive(run.pid("child"))).toBe(true);

    await run.leash.kill();
    expect(isAlive(run.pid("child"))).toBe(false);
  });

  test("goes though each process forks the next and exits", async () => {
    const chain = "link() { echo $1 > child; [ $1 = 9999 ] || link $(($1 + 1)) & }; link 1";
    const run = await finished(`setsid bash -c '${chain}' &`, options);
    await run.wrote("child");
    await delay(100);
    expect((await run.leash.kill()).left).toEqual([]);

    const last = run.read("child");
    await delay(100);
    expect(run.read("child")).toBe(last);
    expect(last).not.toBe("9999");
    expect(await sweepRun(run.token)).toMatchObject({ killed: 0, left: [] });
  });

  test("goes though it forks on and on", async () => {
    const loop = "for i in $(seq 500); do sleep 600 & sleep 0.01; done";
    const run = await finished(`setsid sh -c '${loop}' &`, options);
    await delay(200);
    const { killed, left } = await run.leash.kill();
    expect(killed).toBeGreaterThan(3);
    expect(left).toEqual([]);
    expect(await sweepRun(run.token)).toMatchObject({ killed: 0, left: [] });
  });

  test("goes together with a program that still runs", async () => {
    const run = start("sleep 600", options);
    await run.leash.kill();
    await run.exited;
    expect(isAlive(run.child.pid ?? 0)).toBe(false);
  });

  test("goes when a server had started it before that was held", async () => {
    const run = start("read again", options);
    const server = start("setsid sleep 600 & echo $! > child; read again", options, {
      HERDCTL_RUN: run.token,
    });
    await server.wrote("child");
    run.leash.holdServer(server.child.pid ?? 0);
    for (const { say, exited } of [run, server]) {
      say("go on");
      await exited;
    }

    expect(await run.leash.kill()).toMatchObject({ killed: 1, left: [] });
    expect(isAlive(server.pid("child"))).toBe(false);
  });

  test("is nothing after most runs, and that is quickly known", async () => {
    const run = await finished("true", options);
    const begun = performance.now();
    expect(await run.leash.kill()).toMatchObject({ killed: 0, left: [] });
    expect(performance.now() - begun).toBeLessThan(500);
  });

  test("is waited for where there is something, also by who is in no hurry to look", async () => {
    const run = await finished("setsid sleep 600 & echo $! > child", options);
    await run.leash.killUnhurried();
    expect(isAlive(run.pid("child"))).toBe(false);
  });

  test("leaves no control group behind", async () => {
    const run = await finished("setsid sleep 600 &", options);
    await run.leash.kill();
    expect(readFileSync("/proc/self/cgroup", "utf8")).not.toContain(run.token);
    expect(controlGroups().filter((name) => name.includes(run.token))).toEqual([]);
  });
});

describe("a sweep", () => {
  test("catches a clean environment that nobody saw only by a control group", async () => {
    const seconds = `600.${process.pid}`;
    const run = await finished(`env -i setsid -f sleep ${seconds}`, {});
    const [pid = 0] = await sleeping(seconds);
    const { knownBy } = await run.leash.kill();
    const survived = isAlive(pid);
    if (survived) process.kill(pid, "SIGKILL");

    expect(survived).toBe(knownBy !== "cgroup");
  });

  test("finds by further looks what comes after the first, which nobody has waited for", async () => {
    const run = await finished("true", { cgroup: false });
    await run.leash.killUnhurried();
    const late = start("exec sleep 600", { cgroup: false }, { HERDCTL_RUN: run.token });
    await run.leash.looked();
    await late.exited;
    expect(isAlive(late.child.pid ?? 0)).toBe(false);
  });

  test("does not touch another run, nor a variable that merely holds the token", async () => {
    const run = await finished("setsid sleep 600 &", {});
    const others = [
      start("echo $$ > child; exec sleep 600", {}),
      start("echo $$ > child; exec sleep 600", {}, { OTHER: `HERDCTL_RUN=${run.token}` }),
      start("echo $$ > child; exec sleep 600", {}, { HERDCTL_RUN: `${run.token}1` }),
      start("echo $$ > child; exec sleep 600", {}, { NOT_HERDCTL_RUN: run.token }),
    ];
    for (const other of others) await other.wrote("child");

    expect(await run.leash.kill()).toMatchObject({ killed: 1 });
    expect(others.map((other) => isAlive(other.pid("child")))).toEqual([true, true, true, true]);
  });

  test("spares itself and those it descends from, though they carry the marker", async () => {
    const run = await finished("sleep 600 & echo $! > child; $SWEEP > swept; echo $? > after", {
      cgroup: false,
    });
    expect(JSON.parse(run.read("swept"))).toMatchObject({ killed: 1, left: [] });
    expect(run.read("after")).toBe("0");
    expect(isAlive(run.pid("child"))).toBe(false);
  });

  test("by a later process finds what a dead one left", async () => {
    const run = await finished("setsid sleep 600 & echo $! > child; env -i sleep 600 &", {});
    const { knownBy } = await sweepRun(run.token);

    expect(isAlive(run.pid("child"))).toBe(false);
    expect(await run.leash.kill()).toMatchObject({ killed: knownBy === "cgroup" ? 0 : 1 });
    expect(controlGroups().filter((name) => name.includes(run.token))).toEqual([]);
  });

  test("knows descendants only where there is no /proc", async () => {
    const run = start("sleep 600 & echo $! > child; wait", { platform: "darwin" });
    await run.wrote("child");
    expect(await run.leash.kill()).toMatchObject({ left: [], knownBy: "descendants" });
    await run.exited;
    expect(isAlive(run.pid("child"))).toBe(false);
  });
});

describe("the signs by which a process is known", () => {
  test("are one whole entry of its environment", () => {
    const environs = [
      ["HERDCTL_RUN=a-1\0", true],
      ["PATH=/bin\0HERDCTL_RUN=a-1\0HOME=/\0", true],
      ["HERDCTL_RUN=a-12\0", false],
      ["HERDCTL_RUN=a\0", false],
      ["NOT_HERDCTL_RUN=a-1\0", false],
      ["OTHER=HERDCTL_RUN=a-1\0", false],
      ["OTHER=x\nHERDCTL_RUN=a-1\0", false],
      ["", false],
    ] as const;
    for (const [environ, carries] of environs) {
      expect(carriesMarker(environ, "a-1"), environ).toBe(carries);
    }
  });

  const rest = "1 1 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 987654 9 9";
  test.each([
    ["a plain name", `42 (sleep) S 7 ${rest}`, { pid: 42, ppid: 7, startTime: "987654" }],
    [
      "a name like a state",
      `42 (a) Z 1 (b) R 7 ${rest}`,
      { pid: 42, ppid: 7, startTime: "987654" },
    ],
    ["a dead one", `42 (sleep) Z 7 ${rest}`, undefined],
    ["half a line", "42 (sle", undefined],
  ])("are read from stat: %s", (_what, stat, entry) => {
    expect(parseStat(stat)).toEqual(entry);
  });

  test("are read from ps", () => {
    const text =
      "    1     0 Ss   Sun Nov 15 19:44:01 2026\n   9     1 Z    Sun Nov 15 19:45:00 2026\n";
    expect(parsePs(text)).toEqual([{ pid: 1, ppid: 0, startTime: "Sun Nov 15 19:44:01 2026" }]);
  });

  const table = [
    { pid: 1, ppid: 0, startTime: "1" },
    { pid: 10, ppid: 1, startTime: "10" },
    { pid: 11, ppid: 10, startTime: "11" },
    { pid: 12, ppid: 11, startTime: "12" },
    { pid: 20, ppid: 1, startTime: "20" },
  ];
  test.each([
    ["a known one and all below it", [[10, "10"]], [10, 11, 12]],
    ["one that lost its parent", [[20, "20"]], [20]],
    ["not one that took over a number", [[10, "9"]], []],
    ["not one that is gone", [[99, "99"]], []],
  ] as const)("make a family: %s", (_what, known, pids) => {
    const family = livingFamily(table, new Map(known));
    expect(family.map((entry) => entry.pid)).toEqual(pids);
  });

  test("end at the first of all processes", () => {
    expect([...lineage(table, 12)]).toEqual([12, 11, 10, 1, 0]);
  });
});

describe("the place of a control group", () => {
  test.each([
    ["0::/user.slice/app.scope\n", "/user.slice/app.scope"],
    ["4:memory:/x\n0::/\n", "/"],
    ["0::/../other\n", undefined],
    ["4:memory:/x\n", undefined],
  ])("is found in %j", (text, path) => {
    expect(parseOwnGroup(text)).toBe(path);
  });

  test.each([
    ["29 23 0:26 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw\n", "/sys/fs/cgroup"],
    ["41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 none rw\n", "/sys/fs/cgroup/unified"],
    ["41 31 0:38 /part /mnt rw - cgroup2 none rw\n", undefined],
    ["32 31 0:29 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n", undefined],
  ])("is mounted as in %j", (text, mount) => {
    expect(parseCgroupMount(text)).toBe(mount);
  });

  test.each([
    ["0::/a/herdctl-1/inner\n", "/a/herdctl-1"],
    ["0::/herdctl-1\n", "/herdctl-1"],
    ["0::/herdctl-12\n", undefined],
  ])("of a run is seen in %j", (text, path) => {
    expect(groupNamed("herdctl-1", text)).toBe(path);
  });
});

interface Run {
  token: string;
  leash: Leash;
  child: ChildProcess;
  exited: Promise<unknown>;
  say(line: string): void;
  read(name: string): string;
  pid(name: string): number;
  wrote(name: string): Promise<void>;
}

/** A script in the place of claude, held before its first step. */
function start(script: string, options: LeashOptions, extra: Record<string, string> = {}): Run {
  const folder = folderWith({});
  const token = randomUUID();
  const env = { PATH: process.env.PATH ?? "", SWEEP: sweepCommand(folder, token) };
  const child = spawn("sh", ["-c", `read go; ${script}`], {
    cwd: folder,
    env: { ...env, HERDCTL_RUN: token, ...extra },
    detached: true,
    stdio: ["pipe", "ignore", "inherit"],
  });
  const leash = new Leash(token, options);
  leash.hold(child.pid ?? 0);
  const exited = once(child, "exit");
  onTestFinished(async () => {
    child.kill("SIGKILL");
    await leash.kill();
    await exited;
  });
  const read = (name: string) => readFileSync(join(folder, name), "utf8").trim();
  const say = (line: string) => void child.stdin.write(`${line}\n`);
  say("go");
  const wrote = async (name: string) => {
    while (!existsSync(join(folder, name)) || read(name) === "") await delay(5);
  };
  return { token, leash, child, exited, say, read, wrote, pid: (name) => Number(read(name)) };
}

async function finished(script: string, options: LeashOptions): Promise<Run> {
  const run = start(script, options);
  await run.exited;
  return run;
}

/** Sweeps from a process that itself carries the marker. */
function sweepCommand(folder: string, token: string): string {
  const at = (path: string) => new URL(path, import.meta.url);
  const sweep = at("../../packages/core/src/runner/sweep/sweep-run.ts");
  writeFiles(folder, {
    "sweep.mjs": `import { sweepRun } from "${sweep}";
      console.log(JSON.stringify(await sweepRun("${token}")));`,
  });
  const typescript = at("../state/programs/typescript.mjs");
  return `${process.execPath} --import ${typescript} sweep.mjs`;
}

function isAlive(pid: number): boolean {
  return readProcess(pid, "linux") !== undefined;
}

async function sleeping(seconds: string): Promise<number[]> {
  for (;;) {
    const pids = readdirSync("/proc").map(Number).filter(Number.isInteger);
    const found = pids.filter((pid) => commandLine(pid) === `sleep\0${seconds}\0`);
    if (found.length > 0) return found;
    await delay(5);
  }
}

function commandLine(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8");
  } catch {
    return "";
  }
}

function controlGroups(): string[] {
  const mount = parseCgroupMount(readFileSync("/proc/self/mountinfo", "utf8"));
  const own = parseOwnGroup(readFileSync("/proc/self/cgroup", "utf8"));
  return mount && own ? readdirSync(join(mount, own)) : [];
}
