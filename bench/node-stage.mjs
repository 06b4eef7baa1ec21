// Fleets on a PostgreSQL of their own, which forces every commit to the disk as one in earnest does.
import { randomBytes } from "node:crypto";
import { mkdirSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { createServerIn } from "../scripts/postgres/server.mjs";
import { quickClaude } from "./quick-claude.mjs";
import { startFleet } from "./running-fleet.mjs";
import { rehearsedFleet } from "./stage.mjs";

/** The one that the library itself uses. */
const pg = createRequire(createRequire(import.meta.url).resolve("@herdctl/core/package.json"))(
  "pg",
);

export async function withPostgres(work) {
  const server = await createServerIn(true);
  try {
    await server.start();
    return await work({ newStore: () => newStore(server.address), ask });
  } finally {
    await server.remove();
  }
}

/** One statement, or several without values. */
export async function ask(address, sql) {
  const client = new pg.Client({ connectionString: address });
  await client.connect();
  try {
    return await client.query(sql);
  } finally {
    await client.end();
  }
}

async function newStore(address) {
  const name = `bench_${randomBytes(6).toString("hex")}`;
  await ask(address, `CREATE DATABASE ${name} TEMPLATE template0 ENCODING 'UTF8'`);
  const url = new URL(address);
  url.pathname = name;
  return url.href;
}

/** So many nodes on one store, or one fleet with its own where there is none; `flags` of each. */
export async function nodes(count, { store, agents, fleet = "", flags = () => [] }) {
  const up = [];
  const stages = [];
  const stop = async () => {
    for (const one of up) await one.stop();
    for (const stage of stages) await stage.dispose();
  };
  try {
    for (let index = 0; index < count; index += 1) {
      const stage = await rehearsedFleet({ fleetFile: fleetFile({ store, agents, fleet }) });
      stages.push(stage);
      const bin = join(stage.home, "bin");
      mkdirSync(bin);
      const env = {
        ...stage.env,
        CLAUDE_BIN: quickClaude(bin),
        ...(store && { HERDCTL_STORE: store }),
      };
      up.push(await startFleet({ ...stage, env, flags: store ? flags(index) : [] }));
    }
  } catch (error) {
    await stop();
    throw error;
  }
  return { up, stop };
}

const fleetFile = ({ store, agents, fleet }) => `version: 1
fleet: { name: bench, warm: false, max_concurrent: 24, budget: { daily_jobs: 1000000 }${fleet} }
${store ? "store: ${HERDCTL_STORE}" : ""}
claude_path: \${CLAUDE_BIN}
agents:
${agents.map((agent) => `  - { runtime: cli, max_concurrent: 24, ${agent} }`).join("\n")}
`;
