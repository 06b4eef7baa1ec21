import { mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { run } from "./run-program.mjs";

/** Downloads this version of Node, which npm has as one package per platform. */
export async function fetchNode(version, folder) {
  const temp = mkdtempSync(join(tmpdir(), "herdctl-node-"));
  const name = `node-${process.platform}-${process.arch}@${version}`;
  try {
    await run("npm", ["pack", name, "--pack-destination", temp], { cwd: temp });
    mkdirSync(folder, { recursive: true });
    const [archive] = readdirSync(temp).filter((file) => file.endsWith(".tgz"));
    await run("tar", ["-xzf", join(temp, archive), "-C", folder]);
  } finally {
    rmSync(temp, { recursive: true });
  }
}
