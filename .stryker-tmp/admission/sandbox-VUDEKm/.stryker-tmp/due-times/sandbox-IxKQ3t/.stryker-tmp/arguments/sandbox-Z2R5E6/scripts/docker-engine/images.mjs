import { mkdirSync, readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, resolve } from "node:path";
import { run } from "../run-program.mjs";
import { baseName, baseRecipe, importBase } from "./base-image.mjs";
import { cachePath, fillCache, isCached } from "./cache.mjs";
import { printProgress } from "./print-progress.mjs";

const root = resolve(import.meta.dirname, "../..");
const herdctl = join(root, "bin/herdctl");

/** Starts the engine with its images. They are built only if their recipe has changed. */
export async function startWithImages(daemon, folder) {
  const cached = cachePath("images", await imageRecipe());
  if (isCached(cached)) await copyData(cached, daemon.dataFolder);
  await daemon.start();
  if (!isCached(cached)) {
    await makeImages(daemon, folder);
    await daemon.stop();
    await fillCache(cached, (draft) => copyData(daemon.dataFolder, draft));
    await daemon.start();
  }
  return { base: baseName, image: imageName() };
}

async function makeImages(daemon, folder) {
  await importBase(daemon.socket, folder);
  printProgress("building the image for agents …");
  const env = { ...process.env, DOCKER_HOST: daemon.dockerHost };
  await run(herdctl, ["docker", "build", "--base", baseName, "--json"], { env });
}

function imageName() {
  return `herdctl/agent:${claudeVersion()}`;
}

async function imageRecipe() {
  const own = join(root, "packages/core/image");
  const files = readdirSync(own).map((name) => readFileSync(join(own, name), "utf8"));
  return [baseRecipe, files, claudeVersion(), await run("dockerd", ["--version"])];
}

function claudeVersion() {
  const fromCore = createRequire(join(root, "packages/core/package.json"));
  const sdk = dirname(fromCore.resolve("@anthropic-ai/claude-agent-sdk"));
  return JSON.parse(readFileSync(join(sdk, "package.json"), "utf8")).claudeCodeVersion;
}

/** Hard-links the layers, which never change, and copies the rest. */
async function copyData(from, to) {
  mkdirSync(to, { recursive: true });
  const layers = "overlay2";
  const rest = readdirSync(from).filter((name) => name !== layers);
  await run("cp", ["-a", ...rest.map((name) => join(from, name)), to]);
  if (!readdirSync(from).includes(layers)) return;
  await run("cp", ["-al", join(from, layers), to]).catch(() =>
    run("cp", ["-a", join(from, layers), to]),
  );
}
