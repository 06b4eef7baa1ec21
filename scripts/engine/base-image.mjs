import { createReadStream } from "node:fs";
import { join } from "node:path";
import { run } from "../run.mjs";
import { ask } from "./ask.mjs";
import { cachePath, fillCache, isCached } from "./cache.mjs";
import { installMissing } from "./install.mjs";
import { ownMirror } from "./mirror.mjs";
import { say } from "./say.mjs";

export const baseName = "herdctl-test/base:latest";

const packages = ["ca-certificates", "curl", "git", "ripgrep", "socat"];
const unneeded = ["var/cache/apt/archives/*.deb", "var/lib/apt/lists/*", "usr/share/doc/*"];
export const baseRecipe = [packages, unneeded, process.arch];

/** Puts a small Debian into the engine that carries all that our image needs: no registry is asked. */
export async function importBase(socket, folder) {
  const archive = cachePath("base", baseRecipe);
  if (!isCached(archive)) {
    await fillCache(archive, (draft) => makeArchive(join(folder, "base"), draft));
  }
  const path = `/images/create?fromSrc=-&repo=${encodeURIComponent(baseName)}`;
  const { status, body } = await ask(socket, "POST", path, createReadStream(archive));
  if (status !== 200 || body.includes('"error"')) throw new Error(`no base image: ${body.trim()}`);
}

async function makeArchive(root, archive) {
  await installMissing({ debootstrap: "debootstrap" }, "what makes a Debian");
  say("making a Debian for the containers of the tests, once on this machine (about a minute) …");
  const { uri, suite, components } = ownMirror();
  await run("debootstrap", [
    ...["--variant=minbase", `--include=${packages.join(",")}`],
    ...[`--components=${components.join(",")}`, suite, root, uri],
  ]);
  const excluded = unneeded.map((path) => `--exclude=./${path}`);
  await run("tar", ["-C", root, "--one-file-system", ...excluded, "-cf", archive, "."]);
}
