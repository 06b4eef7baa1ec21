// README's first command: the real Claude Code at work, with no key and no internet.
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { startRehearsal } from "@herdctl/rehearsal";

const script = resolve(import.meta.dirname, "../examples/rehearsal/first-steps.yaml");
const question = "Which files are here?";
const say = (line = "") => process.stdout.write(`${line}\n`);

const folder = mkdtempSync(join(tmpdir(), "herdctl-demo-"));
const rehearsal = await startRehearsal({ script });
const interrupted = new AbortController();
process.once("SIGINT", () => interrupted.abort());
process.once("SIGTERM", () => interrupted.abort());
try {
  process.exitCode = (await demo()) ? 0 : 1;
} finally {
  await rehearsal.stop();
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
}

async function demo() {
  say(`A scripted model listens on ${rehearsal.url}; it stands in for the real one.`);
  say("The real `claude` program runs in a folder of its own, with a made-up key.\n");
  say(`  you     ${question}`);
  let result;
  for await (const message of claude(["-p", question, "--allowedTools", "Bash"])) {
    if (message.type === "assistant" || message.type === "user") showBlocks(message);
    if (message.type === "result") result = message;
  }
  if (result?.is_error !== false || rehearsal.ledger.main.length < 2) {
    say(`\nNo reply came: ${result?.result ?? "claude ended without a result"}`);
    return false;
  }
  const { num_turns: turns, duration_ms: took, total_cost_usd: cost } = result;
  say(`\n${turns} turns in ${(took / 1000).toFixed(1)} s. A real model would have cost about`);
  say(`$${cost.toFixed(4)}; this cost nothing: no key, no internet. Nothing is left behind.`);
  say("\nNext: bin/herdctl init in a folder of yours, then bin/herdctl config check.");
  return true;
}

function showBlocks({ type, message }) {
  for (const block of Array.isArray(message.content) ? message.content : []) {
    if (block.type === "text" && type === "assistant") say(`  claude  ${block.text}`);
    if (block.type === "tool_use") say(`  claude  runs ${block.name}: ${block.input.command}`);
    if (block.type === "tool_result") say(`  tool    ${block.content.replaceAll("\n", ", ")}`);
  }
}

async function* claude(args) {
  const [home, work, TMPDIR] = ["home", "work", "tmp"].map((name) => join(folder, name));
  for (const one of [home, work, TMPDIR]) mkdirSync(one);
  for (const name of ["apples.txt", "pears.txt"]) writeFileSync(join(work, name), "");
  const own = { PATH: process.env.PATH, HOME: home, CLAUDE_CONFIG_DIR: home, TMPDIR };
  const signal = AbortSignal.any([interrupted.signal, AbortSignal.timeout(60_000)]);
  const child = spawn(claudeProgram(), [...args, "--output-format", "stream-json", "--verbose"], {
    cwd: work,
    env: { ...own, ...rehearsal.env() },
    signal,
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ended = new Promise((done) => child.once("error", done).once("close", done));
  for await (const line of createInterface({ input: child.stdout })) yield JSON.parse(line);
  await ended;
}

/** The Agent SDK carries the program in a package of its own for each platform. */
function claudeProgram() {
  const sdk = createRequire(import.meta.url).resolve("@anthropic-ai/claude-agent-sdk");
  const platform = `@anthropic-ai/claude-agent-sdk-${process.platform}-${process.arch}`;
  return join(dirname(createRequire(sdk).resolve(`${platform}/package.json`)), "claude");
}
