import { createReadStream } from "node:fs";
import { join } from "node:path";
import { run } from "../run-program.mjs";
import { cachePath, fillCache, isCached } from "./cache.mjs";
import { ownMirror } from "./debian-mirror.mjs";
import { installMissing } from "./install.mjs";
import { printProgress } from "./print-progress.mjs";
import { requestEngine } from "./request-engine.mjs";

export const baseName = "herdctl-test/base:latest";

const packages = ["ca-certificates", "curl", "git", "ripgrep", "socat"];
const excludedPaths = ["var/cache/apt/archives/*.deb", "var/lib/apt/lists/*", "usr/share/doc/*"];
export const baseRecipe = [packages, excludedPaths, process.arch];

/** Imports a small Debian base image with all packages of the agents' image, without a registry. */
export async function importBase(socket, folder) {
  const archive = cachePath("base", baseRecipe);
  if (!isCached(archive)) {
    await fillCache(archive, (draft) => makeArchive(join(folder, "base"), draft));
  }
  const path = `/images/create?fromSrc=-&repo=${encodeURIComponent(baseName)}`;
  const { status, body } = await requestEngine(socket, "POST", path, createReadStream(archive));
  if (status !== 200 || body.includes('"error"'))
    throw new Error(`the base image could not be imported: ${body.trim()}`);
}

async function makeArchive(root, archive) {
  await installMissing({ debootstrap: "debootstrap" }, "debootstrap");
  printProgress("building the base image of the tests; only once, takes about a minute …");
  const { uri, suite, components } = ownMirror();
  await run("debootstrap", [
    ...["--variant=minbase", `--include=${packages.join(",")}`],
    ...[`--components=${components.join(",")}`, suite, root, uri],
  ]);
  const excluded = excludedPaths.map((path) => `--exclude=./${path}`);
  await run("tar", ["-C", root, "--one-file-system", ...excluded, "-cf", archive, "."]);
}
