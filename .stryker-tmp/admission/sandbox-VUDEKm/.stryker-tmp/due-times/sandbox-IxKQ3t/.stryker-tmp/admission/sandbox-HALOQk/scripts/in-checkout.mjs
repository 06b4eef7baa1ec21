// `node scripts/in-checkout.mjs PROGRAM …` sets up this checkout and runs a program in it with a
// supported version of Node. Without a program, it only sets up the checkout.
import { spawn } from "node:child_process";
import { delimiter, dirname, join, resolve } from "node:path";
import { supportedNode } from "./supported-node.mjs";

const root = resolve(import.meta.dirname, "..");
const node = await supportedNode();
const env = {
  ...process.env,
  PATH: [dirname(node), join(root, "node_modules/.bin"), process.env.PATH].join(delimiter),
};
const [program, ...args] = process.argv.slice(2);

const isSetUp = await run(node, [join(root, "scripts/setup.mjs")]);
if (isSetUp && program) await run(...command());

function command() {
  return program.endsWith(".mjs") ? [node, [program, ...args]] : [program, args];
}

/** Returns whether the program succeeded, and sets the exit code of this process to its exit code. */
function run(file, argv) {
  const child = spawn(file, argv, { env, stdio: "inherit" });
  const forward = (signal) => child.kill(signal);
  const signals = ["SIGTERM", "SIGHUP"];
  for (const signal of signals) process.on(signal, forward);
  // The terminal sends SIGINT to the program too: wait for it to exit.
  const ignore = () => {};
  process.on("SIGINT", ignore);
  return new Promise((done, failed) => {
    child.on("error", failed);
    child.on("exit", (code) => {
      for (const signal of signals) process.off(signal, forward);
      process.off("SIGINT", ignore);
      process.exitCode = code ?? 1;
      done(code === 0);
    });
  });
}
