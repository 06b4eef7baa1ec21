// `node scripts/in-checkout.mjs bench/trace-job-path.mjs [--list]` counts the source files that
// one job passes, from `herdctl trigger --wait` to its recorded outcome, and how often the path
// changes the folder. It runs a real job on the rehearsal model.
import { spawn } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { run } from "../scripts/run-program.mjs";
import { createRehearsedFleet } from "./bench-fleet.mjs";

const root = resolve(import.meta.dirname, "..");
const cli = join(root, "packages/cli/src/herdctl.ts");
/** After it, the runner for the next job has started and nothing of the last one runs. */
const restMs = 6_000;
const isList = process.argv.includes("--list");

/**
 * A hop is a file that a reader who follows the job has to open, because the job is decided or acted
 * on there. These files run as well, but their call says all that the reader needs.
 */
const notHops = {
  "generic helpers and failpoints": [/\/src\/lib\//, /core\/src\/testing\//],
  "records, schemas, tables, names of files and formats of messages": [
    /^packages\/(protocol|config)\//,
    /^packages\/cli\/src\/(command\.ts|command-table\/)/,
    /^packages\/server\/src\/contract\//,
    /core\/src\/store\/model\/(ids|identity)\.ts/,
    /core\/src\/runner\/contract\//,
    /core\/src\/docker\/mounts\.ts/,
    /core\/src\/claude\/token-usage\.ts/,
    /core\/src\/runner\/gateway\/response-reader\.ts/,
    /core\/src\/runner\/gateway\/metering\/(call-usage|prices)\.ts/,
  ],
  "drivers of the database, of files, of /proc and of sockets": [
    /core\/src\/store\/(sqlite|postgres|files)\//,
    /core\/src\/store\/sql\/(sql-program|stores)\.ts/,
    /core\/src\/store\/state-manager\.ts/,
    /core\/src\/process-tree\//,
    /core\/src\/runner\/gateway\/proxy-listener\.ts/,
    /^packages\/server\/src\/(serve-on-socket|limit-body-size|read-request)\.ts/,
    /^packages\/cli\/src\/(stop-signals|hide-sqlite-warning)\.ts/,
  ],
  "the composition root, of which the path takes a service": [
    /core\/src\/(fleet|jobs)\/services\.ts/,
  ],
  "logs of what is done": [
    /core\/src\/fleet\/audit-log-writer\.ts/,
    /core\/src\/store\/sql\/audit-store\.ts/,
    /core\/src\/runner\/gateway\/metering\/spend-log\.ts/,
  ],
  "listeners, which show the job or act on its end while it does not wait for them": [
    /^packages\/cli\/src\/(answer-hint-printer|fleet-reporter|job-reporter|terminal|render\/)/,
    /^packages\/server\/src\/(streams|metrics)\//,
    /core\/src\/(hooks|triggers)\//,
    /core\/src\/fleet\/(log|search-index|views\/job-output)\.ts/,
    /core\/src\/jobs\/attempts\/wait-for-job\.ts/,
    /core\/src\/store\/sql\/(hook-store|search-store|work-claim-store)\.ts/,
  ],
};
/** A call of these only stores or hands out a value. */
const passiveKinds = new Set(["Constructor", "GetAccessor"]);

const fleetFile = `version: 1
fleet: { name: path }
agents:
  - { name: hello, permission_mode: bypassPermissions, default_prompt: hello }
`;
const { env, folder, dispose } = await createRehearsedFleet({ fleetFile });
const callsDir = join(folder, "calls");
const wrapper = join(folder, "node");
mkdirSync(callsDir);
writeFileSync(wrapper, wrapperScript(), { mode: 0o755 });

try {
  const fleet = spawn(wrapper, [cli, "start"], { cwd: folder, env, stdio: "inherit" });
  const exited = new Promise((resolve) => fleet.once("exit", resolve));
  try {
    while (!existsSync(join(folder, ".herdctl/herdctl.sock"))) await delay(100);
    await trigger();
    await delay(restMs);
    const idleFrom = Date.now();
    await delay(restMs);
    const from = Date.now();
    await trigger();
    const until = Date.now();
    await delay(restMs);
    fleet.kill("SIGTERM");
    await exited;
    report({ idleFrom, from, until });
  } finally {
    fleet.kill("SIGKILL");
  }
} finally {
  await dispose();
}

function wrapperScript() {
  const preload = join(root, "bench/record-calls.mjs");
  return `#!/bin/sh
HERDCTL_CALLS_DIR='${callsDir}' HERDCTL_CALLS_NODE='${wrapper}' exec '${process.execPath}' --import '${preload}' "$@"
`;
}

function trigger() {
  return run(wrapper, [cli, "trigger", "hello", "--wait"], { cwd: folder, env });
}

function report(times) {
  const processes = readdirSync(callsDir)
    .map((name) => JSON.parse(readFileSync(join(callsDir, name), "utf8")))
    .map((record) => ({ kind: kindOf(record), record, calls: callsOfJob(record, times) }))
    .filter(({ kind, record, calls }) => calls.length > 0 && isOfJob(kind, record, times));
  // In the order of the processes, so that a file of two processes is a hop of the first one.
  const seen = new Set();
  const rows = ["command", "fleet", "runner"].map((process) => {
    const calls = processes.filter(({ kind }) => kind === process).flatMap((one) => one.calls);
    const hops = new Set(calls.filter(isHop).map(({ file }) => file));
    const newHops = [...hops].filter((file) => !seen.has(file));
    for (const file of newHops) seen.add(file);
    return { process, hops: newHops, all: calls.map(({ file }) => file) };
  });
  for (const { process, hops, all } of rows) {
    console.log(
      `${process}: ${hops.length} files, ${countSwitches(hops)} folder switches (${new Set(all).size} files with all that runs)`,
    );
    if (isList) for (const file of hops) console.log(`  ${file}`);
  }
  const path = [...seen];
  const all = new Set(rows.flatMap((row) => row.all));
  console.log(
    `path: ${path.length} files, ${countSwitches(path)} folder switches (${all.size} files with all that runs)`,
  );
}

function kindOf({ argv }) {
  if (argv[0].endsWith("main.mjs")) return "runner";
  return argv.includes("start") ? "fleet" : "command";
}

/** The runner was started before the request, and the command because of it. */
function isOfJob(kind, { startedAt }, { from, until }) {
  return kind === "command" ? startedAt >= from && startedAt <= until : startedAt < from;
}

/** Calls in their order, without functions that also run in an idle fleet. */
function callsOfJob({ functions, calls }, { idleFrom, from, until }) {
  const idle = new Set(
    calls.filter(([at]) => at >= idleFrom && at < from).map(([, index]) => index),
  );
  return calls
    .filter(([at, index]) => at >= from && at <= until && !idle.has(index))
    .map(([, index]) => ({ file: functions[index][0], kind: functions[index][2] }));
}

function isHop({ file, kind }) {
  if (passiveKinds.has(kind)) return false;
  return !Object.values(notHops).some((patterns) => patterns.some((one) => one.test(file)));
}

/** The first level of core, or another package. */
function folderOf(file) {
  const [, packageName, , first] = file.split("/");
  return packageName === "core" ? first : packageName;
}

function countSwitches(files) {
  return files.filter((file, index) => index > 0 && folderOf(file) !== folderOf(files[index - 1]))
    .length;
}
