import { spawn } from "node:child_process";

/** Wall-clock time of a program in the folder and environment of a stage, from its start to its end. */
export function timed(program, args, { env, folder }) {
  const began = performance.now();
  const child = spawn(program, args, { cwd: folder, env, stdio: ["ignore", "ignore", "inherit"] });
  return new Promise((done, fail) => {
    child.once("error", fail);
    child.once("close", (code) => {
      if (code === 0) done(performance.now() - began);
      else fail(new Error(`${program} ${args.join(" ")} ended with ${code}`));
    });
  });
}
