// A private Docker engine for tests and benches, with the agents' image. It does not affect another
// engine on this machine. When standard input ends, the engine and all its data are removed.
//
// Prints one JSON object per line. The first is printed when the engine is ready and contains its
// address. The commands `kill` and `start` on standard input are each confirmed by one more object.
// The last object lists the containers that were left over.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { Daemon } from "./docker-engine/daemon.mjs";
import { startWithImages } from "./docker-engine/images.mjs";
import { installEngine } from "./docker-engine/install.mjs";
import { mountsBelow, unmountBelow } from "./docker-engine/mounts.mjs";
import { createBridge } from "./docker-engine/network-bridge.mjs";
import { printProgress } from "./docker-engine/print-progress.mjs";

const cleanupSteps = [];
const lines = createInterface({ input: process.stdin });
// The parent process may be dead: clean up even if nothing reads the output.
for (const stream of [process.stdout, process.stderr]) stream.on("error", () => undefined);
const ended = new Promise((resolve) => lines.once("close", resolve));
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => lines.close());

process.exitCode = await main();

async function main() {
  try {
    await serve(await open());
    return 0;
  } catch (error) {
    printProgress(error.message);
    return 1;
  } finally {
    for (const step of cleanupSteps.reverse()) await step();
    process.stdin.destroy();
  }
}

async function open() {
  await installEngine();
  const folder = mkdtempSync(join(tmpdir(), "herdctl-engine-"));
  cleanupSteps.push(() => removeFolder(folder));
  const bridge = await createBridge();
  cleanupSteps.push(() => bridge.remove());
  const daemon = new Daemon(folder, bridge.name);
  cleanupSteps.push(async () => printState({ left: await daemon.stop() }));
  const { base, image } = await startWithImages(daemon, folder);
  printState({ dockerHost: daemon.dockerHost, image, base, hostAddress: bridge.address });
  return daemon;
}

async function serve(daemon) {
  lines.on("line", async (line) => {
    if (line === "kill") await daemon.kill();
    if (line === "start") await daemon.start();
    printState({ done: line });
  });
  await ended;
}

function printState(state) {
  process.stdout.write(`${JSON.stringify(state)}\n`);
}

async function removeFolder(folder) {
  await unmountBelow(folder);
  const left = mountsBelow(folder);
  if (left.length > 0) throw new Error(`still mounted: ${left.join(", ")}`);
  rmSync(folder, { recursive: true, force: true });
}
