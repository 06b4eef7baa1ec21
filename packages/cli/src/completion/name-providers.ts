import { readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import {
  type AccessToken,
  type Approval,
  auditActions,
  type Job,
  jobStatuses,
  type Login,
  outcomes,
  scopes,
} from "@herdctl/protocol";
import type { CommandContext } from "../command.ts";
import { findFleet, resolveFleetFile } from "../find-fleet.ts";
import { queryFleetOrState } from "../query-fleet-or-state.ts";
import type { Candidate } from "./analyze-command-line.ts";

const maxNames = 50;

type NameProvider = (context: CommandContext, args: string[]) => Promise<Candidate[]> | Candidate[];

/** Lists the names of each kind. Kinds without an entry are not completed. */
export const nameProviders: Record<string, NameProvider> = {
  agent: listAgents,
  schedule: listSchedules,
  job: async (context) =>
    (await listJobs(context)).map(({ id, agent }) => ({ value: id, summary: agent })),
  approval: async (context) =>
    (await listApprovals(context)).map(({ id, tool }) => ({ value: id, summary: tool })),
  status: () => jobStatuses.map(bareCandidate),
  outcome: () => Object.keys(outcomes).map(bareCandidate),
  example: () =>
    readdirSync(fileURLToPath(new URL("./examples/", import.meta.url))).map(bareCandidate),
  scope: () => scopes.map(bareCandidate),
  action: () => auditActions.map(bareCandidate),
  token: async (context) =>
    (await listTokens(context)).map(({ name, scope }) => ({ value: name, summary: scope })),
  login: async (context) =>
    (await listLogins(context)).map(({ id, address }) => ({
      value: id.slice(0, 8),
      summary: address,
    })),
  role: () => ["all", "control", "worker"].map(bareCandidate),
  bash: () => [bareCandidate("bash")],
  zsh: () => [bareCandidate("zsh")],
  fish: () => [bareCandidate("fish")],
};

function bareCandidate(value: string): Candidate {
  return { value, summary: "" };
}

/** Asks the running fleet, which is faster than loading its configuration. */
async function listAgents(context: CommandContext): Promise<Candidate[]> {
  const fleet = await findFleet(context);
  if (!fleet)
    return (await loadConfiguredAgents(context)).map(({ name, description = "" }) => ({
      value: name,
      summary: description,
    }));
  try {
    const { agents } = await fleet.status();
    return agents.map(({ name }) => bareCandidate(name));
  } finally {
    fleet.close();
  }
}

async function listSchedules(context: CommandContext, [agent]: string[]): Promise<Candidate[]> {
  const configured = (await loadConfiguredAgents(context)).find(({ name }) => name === agent);
  return Object.keys(configured?.schedules ?? {}).map(bareCandidate);
}

async function loadConfiguredAgents(context: CommandContext) {
  const { loadFleet } = await import("@herdctl/core/internal");
  return loadFleet(resolveFleetFile(context), context.env).fleet.agents;
}

async function listJobs(context: CommandContext): Promise<Job[]> {
  const page = await queryFleetOrState(
    context,
    (fleet) => fleet.jobs.list({ limit: maxNames }),
    (state) => state.jobs.list({ limit: maxNames }),
  );
  return page.jobs;
}

async function listApprovals(context: CommandContext): Promise<Approval[]> {
  const fleet = await findFleet(context);
  try {
    return (await fleet?.approvals.list()) ?? [];
  } finally {
    fleet?.close();
  }
}

async function listTokens(context: CommandContext): Promise<AccessToken[]> {
  return queryFleetOrState(
    context,
    (fleet) => fleet.tokens.list(),
    (state) => state.tokens.list(),
  );
}

async function listLogins(context: CommandContext): Promise<Login[]> {
  return queryFleetOrState(
    context,
    (fleet) => fleet.logins.list(),
    (state) => state.logins.list(),
  );
}
