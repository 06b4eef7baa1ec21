// What a job in a container asks of the engine, and how long each answer takes: a profile, no bench.
//   node bench/engine-trace.mjs [spare | contained | ahead]
import { connect, createServer } from "node:net";
import { join } from "node:path";
import { dockerStage } from "./docker-stage.mjs";
import { inTurns, quantile } from "./measure.mjs";

const rounds = 8;
const [, , agent = "spare"] = process.argv;
const unix = "unix://";

const seen = new Map();
let calls = [];
let servers = [];
const { job, stop } = await dockerStage(listenBetween);
try {
  const took = await inTurns(rounds, { host: job("host"), contained: traced(job(agent)) });
  const [host, contained] = [took.host, took.contained].map((times) => quantile(times, 0.5));
  console.log(`on the host ${shown(host)}, ${agent} ${shown(contained)}; of the latter, medians:`);
  console.log("asked after    answered in    times");
  for (const [call, { at, answered }] of [...seen].sort(([, a], [, b]) => a.at[0] - b.at[0])) {
    const [after, within] = [at, answered].map((times) => shown(quantile(times, 0.5)));
    console.log(
      `${after.padStart(11)}${within.padStart(15)}${String(at.length).padStart(9)}  ${call}`,
    );
  }
} finally {
  await stop();
  for (const server of servers) server.close();
}

/** A socket that passes everything on and notes when it was asked and answered. */
async function listenBetween(address, folder) {
  const path = join(folder, "engine.sock");
  const server = createServer((client) => pass(client, connect(address.replace(unix, ""))));
  servers = [server];
  await new Promise((listening) => server.listen(path, listening));
  return unix + path;
}

function pass(client, engine) {
  let open;
  client.on("data", (data) => {
    const asked = /^([A-Z]+) (?:\/v[\d.]+)?(\/[^? ]*)/.exec(data.subarray(0, 500).toString());
    if (asked) {
      open = {
        call: `${asked[1]} ${asked[2].replace(/[0-9a-f]{64}/, "ID")}`,
        at: performance.now(),
      };
      calls.push(open);
    }
    engine.write(data);
  });
  engine.on("data", (data) => {
    if (open) open.answered ??= performance.now() - open.at;
    client.write(data);
  });
  client.on("close", () => engine.end()).on("error", () => engine.destroy());
  engine.on("close", () => client.end()).on("error", () => client.destroy());
}

/** Jobs are timed when they are at rest, so what was asked counts from the first call of their own. */
function traced(work) {
  return async () => {
    const time = await work();
    const began = performance.now() - time;
    for (const { call, at, answered } of calls.filter((one) => one.at >= began)) {
      if (answered === undefined) continue;
      const known = seen.get(call) ?? { at: [], answered: [] };
      known.at.push(at - began);
      known.answered.push(answered);
      seen.set(call, known);
    }
    calls = [];
    return time;
  };
}

function shown(milliseconds) {
  return `${milliseconds.toFixed(1)} ms`;
}
