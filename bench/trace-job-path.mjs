// `node scripts/in-checkout.mjs bench/trace-job-path.mjs [--list]` counts the source files that
// one job runs through, from `herdctl trigger --wait` to its recorded outcome, and how often the
// path changes the folder. It runs a real job on the rehearsal model.
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

/**
 * Files that are not steps of the path: generic helpers, failpoints, the records, tables and schemas of
 * two packages, and the database drivers under the queries.
 */
const helpers = [
  /\/src\/lib\//,
  /core\/src\/testing\//,
  /^packages\/(protocol|config)\//,
  /core\/src\/store\/(sqlite|postgres)\//,
];
/** Files that follow events of the job and show them or act on its end; the job does not wait for them. */
const listeners = [
  /^packages\/cli\/src\/(fleet-reporter|terminal|render\/)/,
  /^packages\/server\/src\/(streams|metrics)\//,
  /core\/src\/(hooks|triggers)\//,
  /core\/src\/fleet\/(log|views\/job-output)\.ts/,
  /core\/src\/jobs\/attempts\/wait-for-job\.ts/,
  /core\/src\/store\/sql\/(hook-store|work-claim-store)\.ts/,
];

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
    .map((record) => ({ kind: kindOf(record), files: filesOfJob(record, times), record }))
    .filter(({ kind, files, record }) => files.length > 0 && isOfJob(kind, record, times));
  const rows = ["command", "fleet", "runner"].map((kind) => {
    const files = processes.filter((one) => one.kind === kind).flatMap((one) => one.files);
    return { kind, files, steps: files.filter(isStep) };
  });
  for (const { kind, files, steps } of rows) {
    console.log(
      `${kind}: ${steps.length} files, ${countSwitches(steps)} folder switches (${files.length} files with helpers, data, drivers and listeners)`,
    );
    if (process.argv.includes("--list")) for (const file of steps) console.log(`  ${file}`);
  }
  const job = rows.filter(({ kind }) => kind !== "command");
  const count = (of) => job.reduce((sum, row) => sum + of(row), 0);
  console.log(
    `fleet and runner: ${count(({ steps }) => steps.length)} files, ${count(({ steps }) => countSwitches(steps))} folder switches (${count(({ files }) => files.length)} files, ${count(({ files }) => countSwitches(files))} switches with helpers, data, drivers and listeners)`,
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

/** Files in the order of their first call, without functions that also run in an idle fleet. */
function filesOfJob({ functions, calls }, { idleFrom, from, until }) {
  const idle = new Set(
    calls.filter(([at]) => at >= idleFrom && at < from).map(([, index]) => index),
  );
  const called = calls.filter(([at, index]) => at >= from && at <= until && !idle.has(index));
  return [...new Set(called.map(([, index]) => functions[index][0]))];
}

function isStep(file) {
  return ![...helpers, ...listeners].some((pattern) => pattern.test(file));
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
