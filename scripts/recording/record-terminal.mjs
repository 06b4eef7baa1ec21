import { spawn } from "node:child_process";
import { setTimeout as pause } from "node:timers/promises";

/**
 * Runs a command in a pseudo-terminal and presses Ctrl-C after it prints `leaveAt`. Returns its
 * output until then as chunks with timestamps in seconds.
 */
export async function record({ command, cwd, columns, rows, leaveAt, env: base = process.env }) {
  const line = `stty cols ${columns} rows ${rows} && ${command}`;
  const env = { ...base, TERM: "xterm-256color", COLORTERM: "truecolor" };
  const child = spawn("script", ["-qfec", line, "/dev/null"], {
    cwd,
    env,
    stdio: ["pipe", "pipe", "inherit"],
  });
  const chunks = [];
  let output = "";
  let isLeaving = false;
  let seen = 0;
  child.stdout.setEncoding("utf8").on("data", async (text) => {
    chunks.push({ at: performance.now() / 1000, text });
    output += text;
    if (isLeaving || !output.includes(leaveAt)) return;
    isLeaving = true;
    await pause(1_000);
    seen = chunks.length;
    child.stdin.write("\x03");
  });
  const code = await new Promise((done) => child.once("close", done));
  if (!isLeaving)
    throw new Error(`\`${command}\` exited with ${code} and did not print "${leaveAt}"`);
  return chunks.slice(0, seen);
}
