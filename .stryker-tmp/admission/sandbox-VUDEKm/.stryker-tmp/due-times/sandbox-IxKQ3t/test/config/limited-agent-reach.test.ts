import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { loadFleet } from "@herdctl/config";
import { ProblemsError } from "@herdctl/protocol";
import fc from "fast-check";
import { expect, test } from "vitest";
import { stringify } from "yaml";
import { agentSchema } from "../../packages/config/src/schema/agent.ts";
import { computeReach, findExcessReach } from "../../packages/config/src/trust/agent-reach.ts";
import { arbitraryFromSchema } from "../support/arbitrary-from-schema.ts";
import { agentOf } from "../support/fleet-config.ts";
import { tempFolderWith } from "../support/temp-folder.ts";

const secrets = { API_KEY: "canary-of-the-fleet", GRANTED: "granted-value" };
const grants = { variables: ["GRANTED"], workspace_roots: ["./roots"] };

const jira = { command: "jira", env: { TOKEN: "x" } };
const hook = { type: "shell", command: "notify" };
const wallTimeout = { timeouts: { total: "1h" } };
/** Different settings that a fleet file applies to its agents. */
const fleets: { defaults: object; overrides?: object }[] = [
  { defaults: { ...wallTimeout, docker: { enabled: true } } },
  {
    defaults: {
      ...wallTimeout,
      docker: { enabled: true, network: "bridge", egress: ["npm"], memory: "1g" },
    },
    overrides: { permission_mode: "plan", docker: { workspace_mode: "ro" } },
  },
  {
    defaults: {
      ...wallTimeout,
      mcp_servers: { jira },
      hooks: { after_run: [hook] },
      max_budget_usd: 1,
    },
    overrides: { docker: { enabled: true }, max_concurrent: 2 },
  },
  {
    defaults: {
      ...wallTimeout,
      docker: { enabled: true },
      working_directory: { path: "./repo" },
      schedules: { s: { type: "interval", every: "5m", gate: { command: "check" } } },
    },
    overrides: { chat: { discord: { token_env: "BOT", users: ["1"] } } },
  },
];

/** A fleet whose only agent file can be rewritten. */
function fleetIn({ defaults, overrides }: (typeof fleets)[number], entry: object) {
  const file = {
    version: 1,
    fleet: { name: "test" },
    agents: [
      { path: "agents/one.yaml", ...entry, ...(overrides && { overrides }) },
      { name: "hostagent", docker: { enabled: false } },
      { name: "twin", working_directory: "./twin" },
    ],
    defaults: { working_directory: "./repo", default_prompt: "x", ...defaults },
  };
  const folder = tempFolderWith({
    "herdctl.yaml": stringify(file),
    "agents/report.json": "type: object",
  });
  mkdirSync(join(folder, "roots"));
  const resolve = (agent: object) => {
    writeFileSync(join(folder, "agents/one.yaml"), stringify({ ...agent, name: "one" }));
    try {
      return agentOf(loadFleet(join(folder, "herdctl.yaml"), secrets), "one");
    } catch (error) {
      if (error instanceof ProblemsError) return undefined;
      throw error;
    }
  };
  return { folder, resolve, alone: resolve({}) ?? expect.fail("the fleet itself is not valid") };
}

/** The reach that a file gave its agent without a grant of the fleet file. */
function gainedReach(fleet: ReturnType<typeof fleetIn>, agent: object): string[] | undefined {
  const together = fleet.resolve(agent);
  if (!together) return undefined;
  const canary = JSON.stringify(together).includes(secrets.API_KEY) ? ["a secret"] : [];
  const further = findExcessReach(computeReach(fleet.alone), computeReach(together));
  return [...canary, ...further.filter((one) => !isGranted(one, fleet.folder))];
}

function isGranted(touched: string, folder: string): boolean {
  return (
    touched.startsWith(`folder ${folder}/`) || ["variable GRANTED", "agent twin"].includes(touched)
  );
}

const anyAgent = arbitraryFromSchema(agentSchema).map((agent) => ({ ...(agent as object) }));

test("gives an agent no more reach than an empty file, whatever its limited file contains", {
  timeout: 60_000,
}, () => {
  const limited = fleets.map((fleet) => fleetIn(fleet, grants));
  const accepted = new Set<string>();
  fc.assert(
    fc.property(fc.constantFrom(...limited), anyAgent, (fleet, agent) => {
      const more = gainedReach(fleet, agent);
      if (!more) return;
      for (const field of Object.keys(agent)) accepted.add(field);
      expect(more, JSON.stringify(agent)).toEqual([]);
    }),
    { numRuns: 500 },
  );
  expect(accepted.size).toBeGreaterThan(10);
});

test("gives more reach to the same files when the fleet file trusts them", () => {
  const trusted = fleets.map((fleet) => fleetIn(fleet, { ...grants, trust: "full" }));
  const samples = fc.sample(fc.tuple(fc.constantFrom(...trusted), anyAgent), {
    numRuns: 160,
    seed: 29,
  });
  const reached = new Set(samples.flatMap(([fleet, agent]) => gainedReach(fleet, agent) ?? []));
  expect(reached.size).toBeGreaterThan(10);
});
