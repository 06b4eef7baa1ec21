import { readFileSync } from "node:fs";
import { run } from "../run-program.mjs";

/** The mount points below a folder, innermost first. */
export function mountsBelow(folder) {
  return readFileSync("/proc/self/mountinfo", "utf8")
    .split("\n")
    .flatMap((line) => line.split(" ")[4] ?? [])
    .map((path) =>
      path.replace(/\\(\d{3})/g, (_, code) => String.fromCharCode(Number.parseInt(code, 8))),
    )
    .filter((path) => path.startsWith(`${folder}/`))
    .reverse();
}

export async function unmountBelow(folder) {
  for (const path of mountsBelow(folder)) await run("umount", ["--lazy", path]);
}
