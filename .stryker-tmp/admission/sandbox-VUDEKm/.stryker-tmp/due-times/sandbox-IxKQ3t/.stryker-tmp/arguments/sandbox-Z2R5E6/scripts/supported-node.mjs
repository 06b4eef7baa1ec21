import { existsSync, mkdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";
import { fetchNode } from "./fetch-node.mjs";
import { fail } from "./run-step.mjs";

const root = resolve(import.meta.dirname, "..");
/** Downloaded if the machine's Node is too old. */
const pinnedVersion = "24.21.0";
/** The oldest Node that can run these scripts. */
const oldestForScripts = "20.19";

/** The path of a Node that the packages support: the running one, or one in `.node`. */
export async function supportedNode() {
  const own = process.versions.node;
  if (isOlder(own, oldestForScripts)) {
    fail(`this checkout needs Node ${oldestForScripts} or newer; this is ${own}.`);
  }
  const oldest = oldestSupportedVersion();
  if (!isOlder(own, oldest)) return process.execPath;
  const folder = join(root, ".node", pinnedVersion);
  if (!existsSync(folder)) {
    process.stderr.write(
      `herdctl: Node ${own} is older than ${oldest}; downloading Node ${pinnedVersion} to .node …\n`,
    );
    await fetchInto(folder).catch((error) => {
      fail(
        `Node ${pinnedVersion} could not be downloaded (${error.message}). Install Node ${oldest} or newer.`,
      );
    });
  }
  return join(folder, "bin/node");
}

async function fetchInto(folder) {
  const draft = `${folder}.${process.pid}`;
  try {
    await fetchNode(pinnedVersion, draft);
    mkdirSync(join(root, ".node"), { recursive: true });
    if (!existsSync(folder)) renameSync(join(draft, "package"), folder);
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
}

/** The oldest Node that the published packages support. */
function oldestSupportedVersion() {
  const manifest = JSON.parse(readFileSync(join(root, "packages/core/package.json"), "utf8"));
  return manifest.engines.node.replace(">=", "");
}

function isOlder(version, oldest) {
  const [major, minor] = version.split(".").map(Number);
  const [oldestMajor, oldestMinor] = oldest.split(".").map(Number);
  return major < oldestMajor || (major === oldestMajor && minor < oldestMinor);
}
