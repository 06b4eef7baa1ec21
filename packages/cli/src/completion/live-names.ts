import { readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { AccessToken, Approval, Job, Login } from "@herdctl/core";
import { auditActions, jobStatuses, outcomes, scopes } from "@herdctl/core/light";
import { askFleet } from "../ask-fleet.ts";
import type { Call } from "../command.ts";
import { findFleet, fleetFileOf } from "../fleet-access.ts";
import type { Candidate } from "./expected.ts";

const most = 50;

type Names = (call: Call, given: string[]) => Promise<Candidate[]> | Candidate[];

/** Names of each kind; a kind that is not here has none that could be offered. */
export const liveNames: Record<string, Names> = {
  agent: agents,
  schedule: schedules,
  job: async (call) => (await jobs(call)).map(({ id, agent }) => ({ word: id, summary: agent })),
  approval: async (call) =>
    (await approvals(call)).map(({ id, tool }) => ({ word: id, summary: tool })),
  status: () => jobStatuses.map(plain),
  outcome: () => Object.keys(outcomes).map(plain),
  example: () => readdirSync(fileURLToPath(new URL("./examples/", import.meta.url))).map(plain),
  scope: () => scopes.map(plain),
  action: () => auditActions.map(plain),
  token: async (call) =>
    (await tokens(call)).map(({ name, scope }) => ({ word: name, summary: scope })),
  login: async (call) =>
    (await logins(call)).map(({ id, address }) => ({ word: id.slice(0, 8), summary: address })),
  role: () => ["all", "control", "worker"].map(plain),
  bash: () => [plain("bash")],
  zsh: () => [plain("zsh")],
  fish: () => [plain("fish")],
};

function plain(word: string): Candidate {
  return { word, summary: "" };
}

/** A fleet that runs tells at once; else its files are read. */
async function agents(call: Call): Promise<Candidate[]> {
  const fleet = await findFleet(call);
  if (!fleet)
    return (await configured(call)).map(({ name, description = "" }) => ({
      word: name,
      summary: description,
    }));
  try {
    const { agents: known } = await fleet.status();
    return known.map(({ name }) => plain(name));
  } finally {
    fleet.close();
  }
}

async function schedules(call: Call, [agent]: string[]): Promise<Candidate[]> {
  const found = (await configured(call)).find(({ name }) => name === agent);
  return Object.keys(found?.schedules ?? {}).map(plain);
}

async function configured(call: Call) {
  const { loadFleet } = await import("@herdctl/core");
  return loadFleet(fleetFileOf(call), call.env).fleet.agents;
}

async function jobs(call: Call): Promise<Job[]> {
  const page = await askFleet(
    call,
    (fleet) => fleet.jobs({ limit: most }),
    (state) => state.jobs.list({ limit: most }),
  );
  return page.jobs;
}

async function approvals(call: Call): Promise<Approval[]> {
  const fleet = await findFleet(call);
  try {
    return (await fleet?.approvals()) ?? [];
  } finally {
    fleet?.close();
  }
}

async function tokens(call: Call): Promise<AccessToken[]> {
  return askFleet(
    call,
    (fleet) => fleet.tokens(),
    (state) => state.tokens.list(),
  );
}

async function logins(call: Call): Promise<Login[]> {
  return askFleet(
    call,
    (fleet) => fleet.logins(),
    (state) => state.logins.list(),
  );
}
