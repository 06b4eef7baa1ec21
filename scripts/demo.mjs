// README's first command: a fleet of three agents at work, with no key and no internet.
import { spawn } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join, resolve } from "node:path";
import { startRehearsal } from "@herdctl/rehearsal";

const root = resolve(import.meta.dirname, "..");
const assets = join(root, "scripts/demo");
const agents = ["tester", "fixer", "reporter"];
const longest = 120_000;
const say = (line = "") => process.stdout.write(`${line}\n`);

const rehearsal = await startRehearsal({ script: join(assets, "model.yaml") });
const temp = mkdtempSync(join(tmpdir(), "herdctl-demo-"));
const fleet = join(temp, "fleet");
const stopped = AbortSignal.timeout(longest);
let running;
for (const signal of ["SIGINT", "SIGTERM"]) {
  process.on(signal, () => running?.kill(signal) || process.exit(1));
}
try {
  process.exitCode = (await demo()) ? 0 : 1;
} finally {
  await rehearsal.stop();
  rmSync(temp, { recursive: true, force: true, maxRetries: 5 });
}

async function demo() {
  cpSync(assets, fleet, { recursive: true });
  for (const name of ["home", "tmp"]) mkdirSync(join(temp, name));
  say("Three agents look after a small project that has a bug. Each is a real Claude Code");
  say("session; only the model is rehearsed, so there is no key and no internet.\n");
  for (const agent of agents) {
    if ((await herdctl("trigger", agent, "--wait")) !== 0)
      return failed(`${agent} did not succeed`);
    say();
  }
  say("What the fleet has on record:\n");
  await herdctl("jobs");
  const report = readFileSync(join(fleet, "project/report.md"), "utf8").trim();
  const isFixed = !readFileSync(join(fleet, "project/price.mjs"), "utf8").includes("slice");
  if (!isFixed) return failed("the bug is still there");
  say(`\nThe bug is fixed, and the report says: ${report}`);
  say("Nothing was paid, and nothing is left behind.");
  say("\nNext: bin/herdctl init in a folder of yours.");
  return true;
}

function failed(why) {
  say(`\nThe demo failed: ${why}.`);
  return false;
}

/** The built program, in an environment of its own; a person's terminal is passed on to it. */
function herdctl(...args) {
  const own = { HOME: join(temp, "home"), TMPDIR: join(temp, "tmp"), IS_SANDBOX: "1" };
  const { TERM, COLORTERM, LANG, NO_COLOR, FORCE_COLOR } = process.env;
  // npm puts the checkout's own tools on the PATH, an unfinished `claude` for the tests among them.
  const folders = process.env.PATH.split(delimiter).filter((folder) => !folder.startsWith(root));
  const shown = { PATH: folders.join(delimiter), TERM, COLORTERM, LANG, NO_COLOR, FORCE_COLOR };
  running = spawn(process.execPath, [join(root, "packages/cli/dist/herdctl.mjs"), ...args], {
    cwd: fleet,
    env: { ...shown, ...own, ...rehearsal.env() },
    stdio: ["ignore", "inherit", "inherit"],
    signal: stopped,
    killSignal: "SIGINT",
  });
  return new Promise((done) =>
    running.once("error", () => done(1)).once("close", (code) => done(code)),
  );
}
