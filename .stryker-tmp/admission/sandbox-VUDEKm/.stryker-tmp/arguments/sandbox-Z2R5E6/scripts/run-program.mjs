import { spawn } from "node:child_process";

/** Runs a program and returns its output. Prints the output only if the program fails. */
export function run(program, args, options = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { stdio: ["ignore", "pipe", "pipe"], ...options });
    let output = "";
    child.stdout.on("data", (data) => (output += data));
    child.stderr.on("data", (data) => (output += data));
    child.on("error", reject);
    child.on("close", (code) => {
      if (code === 0) return resolve(output);
      process.stderr.write(output);
      reject(new Error(`${program} ${args.join(" ")} ended with ${code}`));
    });
  });
}
