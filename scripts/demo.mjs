// README's first command: a fleet of three agents at work, killed in the middle, with no key and no internet.
import { spawn } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join, resolve } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { startRehearsal } from "@herdctl/rehearsal";

const root = resolve(import.meta.dirname, "..");
const assets = join(root, "scripts/demo");
const agents = ["tester", "fixer", "reporter"];
const longest = 120_000;
const lookAround = 600_000;
const say = (line = "") => process.stdout.write(`${line}\n`);

const rehearsal = await startRehearsal({ script: join(assets, "model.yaml") });
const temp = mkdtempSync(join(tmpdir(), "herdctl-demo-"));
const fleet = join(temp, "fleet");
const ending = new AbortController();
const stopped = ending.signal;
const late = setTimeout(() => ending.abort(), longest).unref();
for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => ending.abort());
const running = new Set();
try {
  process.exitCode = (await demo()) ? 0 : 1;
} catch (error) {
  say(`\nThe demo failed: ${stopped.aborted ? "it was interrupted" : error.message}.`);
  process.exitCode = 1;
} finally {
  await stopFleet();
  for (const child of running) child.kill("SIGKILL");
  await rehearsal.stop();
  rmSync(temp, { recursive: true, force: true, maxRetries: 5 });
}

async function demo() {
  cpSync(assets, fleet, { recursive: true });
  for (const name of ["home", "tmp"]) mkdirSync(join(temp, name));
  say("A fleet of three agents looks after a small project that has a bug. Each is a real");
  say("Claude Code session; only the model is rehearsed: no key, no internet.\n");
  const first = await startFleet();
  for (const agent of agents) await run("trigger", agent, "--json");
  await pause(1_500);

  say("\n⚡ Now the fleet process is killed (kill -9), in the middle of the work.");
  first.kill("SIGKILL");
  await pause(700);
  say("   The agents go on by themselves. A new fleet process finds them:\n");
  await startFleet();
  const jobs = await finished();

  say("\nWhat the fleet has on record:\n");
  await run("jobs");
  const once = jobs.every((job) => job.status === "completed" && job.attempts === 1);
  const isFixed = !readFileSync(join(fleet, "project/price.mjs"), "utf8").includes("slice");
  const report = readFileSync(join(fleet, "project/report.md"), "utf8").trim();
  if (!once || !isFixed) throw new Error("the work was not done once and whole");
  const cost = jobs.reduce((sum, job) => sum + job.cost_usd, 0);
  say(`\nThree triggers, three jobs, each run once: nothing lost, nothing doubled. The bug is`);
  say(`fixed, and the report says: ${report}`);
  say(`A real model would have cost about $${cost.toFixed(2)}. To go on with one of them:`);
  say(`  herdctl trigger fixer --resume ${jobs.find((job) => job.agent === "fixer").id} -p "…"`);
  clearTimeout(late);
  await showDashboard();
  say("\nNothing is left behind. Next: bin/herdctl init in a folder of yours.");
  return true;
}

/** At a terminal it stays for a look; elsewhere it is told of and goes with the fleet. */
async function showDashboard() {
  const { url } = JSON.parse(await run("open", "--json"));
  say(`\nIts dashboard, for one sign-in: ${url}`);
  if (!process.stdout.isTTY || !process.stdin.isTTY) return;
  say("It stays up until you press Ctrl-C, for ten minutes at most.");
  await pause(lookAround, undefined, { signal: stopped }).catch(() => undefined);
}

async function startFleet() {
  // In colour, but without a line at the foot of the screen: the demo writes there as well.
  const child = herdctl(["start"], "inherit", { TERM: "dumb", FORCE_COLOR: "1" });
  while ((await exitOf(herdctl(["status", "--json"], "ignore"))) !== 0) {
    stopped.throwIfAborted();
    await pause(50);
  }
  return child;
}

/** A fleet that has only just been started must be up before it can be told to stop. */
async function stopFleet() {
  const deadline = Date.now() + 30_000;
  while (running.size > 0 && Date.now() < deadline) {
    if ((await exitOf(herdctl(["stop", "--now"], "ignore"))) === 0) return;
    await pause(50);
  }
}

async function finished() {
  for (;;) {
    const { jobs } = JSON.parse(await run("jobs", "--json"));
    const over = jobs.filter((job) => job.finished_at !== null);
    if (over.length === agents.length) return over;
    await pause(200, undefined, { signal: stopped });
  }
}

/** Runs a command to its end; what is for people is shown, what is JSON is returned. */
async function run(...args) {
  const isJson = args.includes("--json");
  const child = herdctl(args, isJson ? "pipe" : "inherit");
  let text = "";
  child.stdout?.on("data", (data) => {
    text += data;
  });
  const code = await exitOf(child);
  if (code !== 0) throw new Error(`herdctl ${args.join(" ")} ended with ${code}`);
  return text;
}

/** The built program, in an environment of its own; a person's terminal is passed on to it. */
function herdctl(args, stdout, look = {}) {
  const own = { HOME: join(temp, "home"), TMPDIR: join(temp, "tmp"), IS_SANDBOX: "1" };
  const { TERM, COLORTERM, LANG, NO_COLOR, FORCE_COLOR } = process.env;
  // npm puts the checkout's own tools on the PATH, an unfinished `claude` for the tests among them.
  const folders = process.env.PATH.split(delimiter).filter((folder) => !folder.startsWith(root));
  const PATH = folders.join(delimiter);
  const child = spawn(process.execPath, [join(root, "packages/cli/dist/herdctl.mjs"), ...args], {
    cwd: fleet,
    env: {
      PATH,
      TERM,
      COLORTERM,
      LANG,
      NO_COLOR,
      FORCE_COLOR,
      ...look,
      ...own,
      ...rehearsal.env(),
    },
    stdio: ["ignore", stdout, stdout === "ignore" ? "ignore" : "inherit"],
  });
  running.add(child);
  child.once("close", () => running.delete(child));
  return child;
}

function exitOf(child) {
  return new Promise((done) =>
    child.once("error", () => done(1)).once("close", (code) => done(code)),
  );
}
