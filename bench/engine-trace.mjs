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
const { job, stop } = await dockerStage(listenBetween);
try {
  const took = await inTurns(rounds, { host: job("host"), contained: traced(job(agent)) });
  const [host, contained] = [took.host, took.contained].map((times) => quantile(times, 0.5));
  console.log(`on the host ${shown(host)}, ${agent} ${shown(contained)}; of the latter, medians:`);
  console.log("asked after    answered in    over after    jobs");
  for (const [call, jobs] of [...seen].sort(([, a], [, b]) => a[0].at - b[0].at)) {
    const middle = (of) => shown(quantile(jobs.map(of), 0.5));
    const columns = [
      middle(({ at }) => at).padStart(11),
      middle(({ at, answered }) => answered - at).padStart(15),
      middle(({ over }) => over).padStart(14),
      String(jobs.length).padStart(8),
    ];
    console.log(`${columns.join("")}  ${call}`);
  }
} finally {
  await stop();
}

/** A socket that passes everything on and notes when it was asked and answered. */
async function listenBetween(address, folder) {
  const path = join(folder, "engine.sock");
  const server = createServer((client) => pass(client, connect(address.replace(unix, ""))));
  await new Promise((listening) => server.unref().listen(path, listening));
  return unix + path;
}

function pass(client, engine) {
  let open;
  client.on("data", (data) => {
    const asked = /^([A-Z]+) (?:\/v[\d.]+)?(\/[^? ]*)/.exec(data.subarray(0, 500).toString());
    if (asked) {
      const call = `${asked[1]} ${asked[2].replace(/[0-9a-f]{64}/, "ID")}`;
      open = { call, at: performance.now() };
      calls.push(open);
    }
    engine.write(data);
  });
  engine.on("data", (data) => {
    if (open) open.over = performance.now();
    if (open) open.answered ??= open.over;
    client.write(data);
  });
  client.on("close", () => engine.end()).on("error", () => engine.destroy());
  engine.on("close", () => client.end()).on("error", () => client.destroy());
}

/** What was asked while the job was under way, counted from its trigger; the first round only warms up. */
function traced(work) {
  let isFirst = true;
  return async () => {
    const time = await work();
    const began = performance.now() - time;
    const times = new Map();
    for (const { call, at, answered, over } of calls) {
      if (isFirst || at < began || answered === undefined) continue;
      const nth = (times.get(call) ?? 0) + 1;
      times.set(call, nth);
      const name = nth > 1 ? `${call}, ${nth}` : call;
      const jobs = seen.get(name) ?? [];
      jobs.push({ at: at - began, answered: answered - began, over: over - began });
      seen.set(name, jobs);
    }
    isFirst = false;
    calls = [];
    return time;
  };
}

function shown(milliseconds) {
  return `${milliseconds.toFixed(1)} ms`;
}
