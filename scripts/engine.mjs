// A Docker engine of our own for tests and benches, with the agents' image in it. It touches nothing
// of an engine that the machine may have, and is gone, with all it held, when its standard input ends.
//
// On standard output comes one JSON object a line. The first says that the engine is ready and where;
// for the lines `kill` and `start` on standard input, one more each says that it is done. The last
// names the containers that were left.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { makeBridge } from "./engine/bridge.mjs";
import { Daemon } from "./engine/daemon.mjs";
import { startWithImages } from "./engine/images.mjs";
import { installEngine } from "./engine/install.mjs";
import { mountsBelow, unmountBelow } from "./engine/mounts.mjs";
import { say } from "./engine/say.mjs";

const undo = [];
const lines = createInterface({ input: process.stdin });
// Whoever started us may be gone without a word; what is ours goes all the same.
for (const stream of [process.stdout, process.stderr]) stream.on("error", () => undefined);
const ended = new Promise((resolve) => lines.once("close", resolve));
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => lines.close());

process.exitCode = await main();

async function main() {
  try {
    await serve(await open());
    return 0;
  } catch (error) {
    say(error.message);
    return 1;
  } finally {
    for (const step of undo.reverse()) await step();
    process.stdin.destroy();
  }
}

async function open() {
  await installEngine();
  const folder = mkdtempSync(join(tmpdir(), "herdctl-engine-"));
  undo.push(() => removeFolder(folder));
  const bridge = await makeBridge();
  undo.push(() => bridge.remove());
  const daemon = new Daemon(folder, bridge.name);
  undo.push(async () => tell({ left: await daemon.stop() }));
  const { base, image } = await startWithImages(daemon, folder);
  tell({ dockerHost: daemon.dockerHost, image, base, hostAddress: bridge.address });
  return daemon;
}

async function serve(daemon) {
  lines.on("line", async (line) => {
    if (line === "kill") await daemon.kill();
    if (line === "start") await daemon.start();
    tell({ done: line });
  });
  await ended;
}

function tell(what) {
  process.stdout.write(`${JSON.stringify(what)}\n`);
}

async function removeFolder(folder) {
  await unmountBelow(folder);
  const left = mountsBelow(folder);
  if (left.length > 0) throw new Error(`still mounted: ${left.join(", ")}`);
  rmSync(folder, { recursive: true, force: true });
}
