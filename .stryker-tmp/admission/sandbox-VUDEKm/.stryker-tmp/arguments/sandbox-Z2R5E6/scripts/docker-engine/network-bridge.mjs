import { spawnSync } from "node:child_process";
import { run } from "../run-program.mjs";

const maxAttempts = 20;

/**
 * Creates a network bridge for containers. The default `docker0` and the packet filter are not used,
 * because they may belong to another engine on this machine.
 */
export async function createBridge() {
  for (let attempt = 0; attempt < maxAttempts; attempt++) {
    const number = (process.pid + attempt) % 250;
    const [name, address] = [`herdctl${process.pid}`, `10.213.${number}.1`];
    if (isRouted(`10.213.${number}.2`)) continue;
    await run("ip", ["link", "add", name, "type", "bridge"]);
    await run("ip", ["address", "add", `${address}/24`, "dev", name]);
    await run("ip", ["link", "set", name, "up"]);
    return { name, address, remove: () => run("ip", ["link", "delete", name]) };
  }
  throw new Error("no free network for the Docker engine");
}

/** Whether another run on this machine uses the network. */
function isRouted(address) {
  const { stdout } = spawnSync("ip", ["route", "get", address], { encoding: "utf8" });
  return / dev herdctl\d+ /.test(stdout ?? "");
}
