import { type ChildProcess, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { describe, expect, onTestFinished, test } from "vitest";
import {
  findGroupPath,
  parseCgroupMount,
  parseOwnGroup,
} from "../../packages/core/src/process-tree/cgroup.ts";
import {
  findAncestors,
  findLivingDescendants,
} from "../../packages/core/src/process-tree/descendants.ts";
import { killRunProcesses } from "../../packages/core/src/process-tree/kill-processes.ts";
import { hasMarker } from "../../packages/core/src/process-tree/process-marker.ts";
import {
  parsePs,
  parseStat,
  readProcess,
} from "../../packages/core/src/process-tree/process-table.ts";
import {
  ProcessTracker,
  type ProcessTrackerOptions,
} from "../../packages/core/src/process-tree/process-tracker.ts";
import { tempFolderWith, writeFiles } from "../support/temp-folder.ts";

const trackingModes: [string, ProcessTrackerOptions][] = [
  ["with a control group where possible", {}],
  ["by marker and descendants alone", { cgroup: false }],
];

describe.each(trackingModes)("leftover processes of a run, found %s", (_way, options) => {
  test("ends a process that left its session and lost its parent", async () => {
    const run = await runToEnd("setsid nohup sleep 600 >/dev/null 2>&1 & echo $! > child", options);
    expect(isAlive(run.pid("child"))).toBe(true);

    expect(await run.tracker.kill()).toMatchObject({ killed: 1, survivors: [] });
    expect(isAlive(run.pid("child"))).toBe(false);
  });

  test("ends a daemon that forked twice", async () => {
    const run = await runToEnd("(setsid sh -c 'sleep 600 & echo $! > child' &)", options);
    await run.waitForFile("child");
    await run.tracker.kill();
    expect(isAlive(run.pid("child"))).toBe(false);
  });

  test("asks a process to end first", async () => {
    const polite = `trap "echo bye > farewell; exit" TERM; echo $$ > child; while :; do sleep 0.02; done`;
    const run = await runToEnd(`setsid sh -c '${polite}' &`, options);
    await run.waitForFile("child");
    await run.tracker.kill();
    expect(run.read("farewell")).toBe("bye");
  });

  test("ends a process that ignores SIGTERM", async () => {
    const stubborn = `trap "" TERM; echo $$ > child; while :; do sleep 1; done`;
    const run = await runToEnd(`setsid sh -c '${stubborn}' &`, options);
    await run.waitForFile("child");
    expect((await run.tracker.kill()).survivors).toEqual([]);
    expect(isAlive(run.pid("child"))).toBe(false);
  });

  test("ends a process with a clean environment that was once seen as a descendant", async () => {
    const run = startTracked("env -i setsid sleep 600 & echo $! > child; read again", options);
    await run.waitForFile("child");
    await delay(50);
    run.tracker.poll();
    run.writeLine("go on");
    await run.exited;
    expect(isAlive(run.pid("child"))).toBe(true);

    await run.tracker.kill();
    expect(isAlive(run.pid("child"))).toBe(false);
  });

  test("ends a chain of processes where each forks the next and exits", async () => {
    const chain = "link() { echo $1 > child; [ $1 = 9999 ] || link $(($1 + 1)) & }; link 1";
    const run = await runToEnd(`setsid bash -c '${chain}' &`, options);
    await run.waitForFile("child");
    await delay(100);
    expect((await run.tracker.kill()).survivors).toEqual([]);

    const last = run.read("child");
    await delay(100);
    expect(run.read("child")).toBe(last);
    expect(last).not.toBe("9999");
    expect(await killRunProcesses(run.token)).toMatchObject({ killed: 0, survivors: [] });
  });

  test("ends a process that keeps forking", async () => {
    const loop = "for i in $(seq 500); do sleep 600 & sleep 0.01; done";
    const run = await runToEnd(`setsid sh -c '${loop}' &`, options);
    await delay(200);
    const { killed, survivors } = await run.tracker.kill();
    expect(killed).toBeGreaterThan(3);
    expect(survivors).toEqual([]);
    expect(await killRunProcesses(run.token)).toMatchObject({ killed: 0, survivors: [] });
  });

  test("ends leftovers together with the running program", async () => {
    const run = startTracked("sleep 600", options);
    await run.tracker.kill();
    await run.exited;
    expect(isAlive(run.child.pid ?? 0)).toBe(false);
  });

  test("ends a server that was running before and daemonized", async () => {
    const run = startTracked("read again", options);
    const server = startTracked("setsid sleep 600 & echo $! > child; read again", options, {
      HERDCTL_RUN: run.token,
    });
    await server.waitForFile("child");
    run.tracker.trackServer(server.child.pid ?? 0);
    for (const { writeLine, exited } of [run, server]) {
      writeLine("go on");
      await exited;
    }

    expect(await run.tracker.kill()).toMatchObject({ killed: 1, survivors: [] });
    expect(isAlive(server.pid("child"))).toBe(false);
  });

  test("returns quickly when a run left nothing", async () => {
    const run = await runToEnd("true", options);
    const begun = performance.now();
    expect(await run.tracker.kill()).toMatchObject({ killed: 0, survivors: [] });
    expect(performance.now() - begun).toBeLessThan(500);
  });

  test("leaves no control group behind", async () => {
    const run = await runToEnd("setsid sleep 600 &", options);
    await run.tracker.kill();
    expect(readFileSync("/proc/self/cgroup", "utf8")).not.toContain(run.token);
    expect(controlGroups().filter((name) => name.includes(run.token))).toEqual([]);
  });
});

describe("sweep by marker", () => {
  test("finds an unseen process with a clean environment only by a control group", async () => {
    const seconds = `600.${process.pid}`;
    const run = await runToEnd(`env -i setsid -f sleep ${seconds}`, {});
    const [pid = 0] = await sleepingProcesses(seconds);
    const { identifiedBy } = await run.tracker.kill();
    const survived = isAlive(pid);
    if (survived) process.kill(pid, "SIGKILL");

    expect(survived).toBe(identifiedBy !== "cgroup");
  });

  test("ignores another run, and a variable that merely contains the token", async () => {
    const run = await runToEnd("setsid sleep 600 &", {});
    const others = [
      startTracked("echo $$ > child; exec sleep 600", {}),
      startTracked("echo $$ > child; exec sleep 600", {}, { OTHER: `HERDCTL_RUN=${run.token}` }),
      startTracked("echo $$ > child; exec sleep 600", {}, { HERDCTL_RUN: `${run.token}1` }),
      startTracked("echo $$ > child; exec sleep 600", {}, { NOT_HERDCTL_RUN: run.token }),
    ];
    for (const other of others) await other.waitForFile("child");

    expect(await run.tracker.kill()).toMatchObject({ killed: 1 });
    expect(others.map((other) => isAlive(other.pid("child")))).toEqual([true, true, true, true]);
  });

  test("spares itself and its ancestors although they carry the marker", async () => {
    const run = await runToEnd("sleep 600 & echo $! > child; $SWEEP > swept; echo $? > after", {
      cgroup: false,
    });
    expect(JSON.parse(run.read("swept"))).toMatchObject({ killed: 1, survivors: [] });
    expect(run.read("after")).toBe("0");
    expect(isAlive(run.pid("child"))).toBe(false);
  });

  test("finds the leftovers of a dead process from a later one", async () => {
    const run = await runToEnd("setsid sleep 600 & echo $! > child; env -i sleep 600 &", {});
    const { identifiedBy } = await killRunProcesses(run.token);

    expect(isAlive(run.pid("child"))).toBe(false);
    expect(await run.tracker.kill()).toMatchObject({ killed: identifiedBy === "cgroup" ? 0 : 1 });
    expect(controlGroups().filter((name) => name.includes(run.token))).toEqual([]);
  });

  test("only finds descendants on systems without /proc", async () => {
    const run = startTracked("sleep 600 & echo $! > child; wait", { platform: "darwin" });
    await run.waitForFile("child");
    expect(await run.tracker.kill()).toMatchObject({ survivors: [], identifiedBy: "descendants" });
    await run.exited;
    expect(isAlive(run.pid("child"))).toBe(false);
  });
});

describe("identification of processes", () => {
  test("matches one whole entry of the environment", () => {
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
      expect(hasMarker(environ, "a-1"), environ).toBe(carries);
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
    ["a zombie", `42 (sleep) Z 7 ${rest}`, undefined],
    ["an incomplete line", "42 (sle", undefined],
  ])("parses stat: %s", (_what, stat, entry) => {
    expect(parseStat(stat)).toEqual(entry);
  });

  test("parses ps", () => {
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
    ["a known process and its descendants", [[10, "10"]], [10, 11, 12]],
    ["an orphan", [[20, "20"]], [20]],
    ["a reused pid", [[10, "9"]], []],
    ["an exited process", [[99, "99"]], []],
  ] as const)("computes the family of %s", (_what, known, pids) => {
    const family = findLivingDescendants(table, new Map(known));
    expect(family.map((entry) => entry.pid)).toEqual(pids);
  });

  test("stops at the first process of the system", () => {
    expect([...findAncestors(table, 12)]).toEqual([12, 11, 10, 1, 0]);
  });
});

describe("location of a control group", () => {
  test.each([
    ["0::/user.slice/app.scope\n", "/user.slice/app.scope"],
    ["4:memory:/x\n0::/\n", "/"],
    ["0::/../other\n", undefined],
    ["4:memory:/x\n", undefined],
  ])("reads the group from %j", (text, path) => {
    expect(parseOwnGroup(text)).toBe(path);
  });

  test.each([
    ["29 23 0:26 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw\n", "/sys/fs/cgroup"],
    ["41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 none rw\n", "/sys/fs/cgroup/unified"],
    ["41 31 0:38 /part /mnt rw - cgroup2 none rw\n", undefined],
    ["32 31 0:29 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n", undefined],
  ])("reads the mount from %j", (text, mount) => {
    expect(parseCgroupMount(text)).toBe(mount);
  });

  test.each([
    ["0::/a/herdctl-1/inner\n", "/a/herdctl-1"],
    ["0::/herdctl-1\n", "/herdctl-1"],
    ["0::/herdctl-12\n", undefined],
  ])("recognizes a run's group in %j", (text, path) => {
    expect(findGroupPath("herdctl-1", text)).toBe(path);
  });
});

interface TrackedRun {
  token: string;
  tracker: ProcessTracker;
  child: ChildProcess;
  exited: Promise<unknown>;
  writeLine(line: string): void;
  read(name: string): string;
  pid(name: string): number;
  waitForFile(name: string): Promise<void>;
}

/** A script in place of claude, paused before its first step. */
function startTracked(
  script: string,
  options: ProcessTrackerOptions,
  extra: Record<string, string> = {},
): TrackedRun {
  const folder = tempFolderWith({});
  const token = randomUUID();
  const env = { PATH: process.env.PATH ?? "", SWEEP: killAllCommand(folder, token) };
  const child = spawn("sh", ["-c", `read go; ${script}`], {
    cwd: folder,
    env: { ...env, HERDCTL_RUN: token, ...extra },
    detached: true,
    stdio: ["pipe", "ignore", "inherit"],
  });
  const tracker = new ProcessTracker(token, options);
  tracker.track(child.pid ?? 0);
  const exited = once(child, "exit");
  onTestFinished(async () => {
    child.kill("SIGKILL");
    await tracker.kill();
    await exited;
  });
  const read = (name: string) => readFileSync(join(folder, name), "utf8").trim();
  const say = (line: string) => void child.stdin.write(`${line}\n`);
  say("go");
  const wrote = async (name: string) => {
    while (!existsSync(join(folder, name)) || read(name) === "") await delay(5);
  };
  return {
    token,
    tracker,
    child,
    exited,
    writeLine: say,
    read,
    waitForFile: wrote,
    pid: (name) => Number(read(name)),
  };
}

async function runToEnd(script: string, options: ProcessTrackerOptions): Promise<TrackedRun> {
  const run = startTracked(script, options);
  await run.exited;
  return run;
}

/** Sweeps from a process that itself carries the marker. */
function killAllCommand(folder: string, token: string): string {
  const at = (path: string) => new URL(path, import.meta.url);
  const sweep = at("../../packages/core/src/process-tree/kill-processes.ts");
  writeFiles(folder, {
    "sweep.mjs": `import { killRunProcesses } from "${sweep}";
      console.log(JSON.stringify(await killRunProcesses("${token}")));`,
  });
  const typescript = at("../store/programs/typescript-loader.mjs");
  return `${process.execPath} --import ${typescript} sweep.mjs`;
}

function isAlive(pid: number): boolean {
  return readProcess(pid, "linux") !== undefined;
}

async function sleepingProcesses(seconds: string): Promise<number[]> {
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
