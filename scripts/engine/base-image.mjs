import { createHash } from "node:crypto";
import { createReadStream, existsSync, mkdirSync, renameSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { run } from "../run.mjs";
import { ask } from "./ask.mjs";
import { installMissing } from "./install.mjs";
import { ownMirror } from "./mirror.mjs";
import { say } from "./say.mjs";

const name = "herdctl-test/base:latest";
const packages = ["ca-certificates", "curl", "git", "ripgrep", "socat"];
const unneeded = ["var/cache/apt/archives/*.deb", "var/lib/apt/lists/*", "usr/share/doc/*"];

/** Puts a small Debian into the engine that carries all that our image needs: no registry is asked. */
export async function importBase(socket, folder) {
  const archive = await cachedArchive(folder);
  const path = `/images/create?fromSrc=-&repo=${encodeURIComponent(name)}`;
  const { status, body } = await ask(socket, "POST", path, createReadStream(archive));
  if (status !== 200 || body.includes('"error"')) throw new Error(`no base image: ${body.trim()}`);
  return name;
}

/** Made once a machine; whoever makes it beside us ends with the same. */
async function cachedArchive(folder) {
  const recipe = JSON.stringify([packages, unneeded, process.arch]);
  const key = createHash("sha256").update(recipe).digest("hex").slice(0, 12);
  const cache = join(process.env.XDG_CACHE_HOME || join(homedir(), ".cache"), "herdctl-test");
  const archive = join(cache, `base-${key}.tar`);
  if (existsSync(archive)) return archive;
  mkdirSync(cache, { recursive: true, mode: 0o700 });
  const draft = `${archive}.${process.pid}`;
  await makeArchive(join(folder, "base"), draft);
  renameSync(draft, archive);
  return archive;
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
