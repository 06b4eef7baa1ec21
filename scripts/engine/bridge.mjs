import { spawnSync } from "node:child_process";
import { run } from "../run.mjs";

const tries = 20;

/**
 * A network bridge for containers that ask for one. The usual `docker0` and the machine's packet
 * filter belong to the engine that the machine may have.
 */
export async function makeBridge() {
  for (let attempt = 0; attempt < tries; attempt++) {
    const number = (process.pid + attempt) % 250;
    const [name, address] = [`herdctl${process.pid}`, `10.213.${number}.1`];
    if (isRouted(`10.213.${number}.2`)) continue;
    await run("ip", ["link", "add", name, "type", "bridge"]);
    await run("ip", ["address", "add", `${address}/24`, "dev", name]);
    await run("ip", ["link", "set", name, "up"]);
    return { name, address, remove: () => run("ip", ["link", "delete", name]) };
  }
  throw new Error("every network that could be used for the engine is in use");
}

/** Another run on this machine may be using it. */
function isRouted(address) {
  const { stdout } = spawnSync("ip", ["route", "get", address], { encoding: "utf8" });
  return / dev herdctl\d+ /.test(stdout ?? "");
}
