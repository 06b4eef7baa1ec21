import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { loadFleet, ProblemsError } from "@herdctl/core";
import fc from "fast-check";
import { expect, test } from "vitest";
import { stringify } from "yaml";
import { agentSchema } from "../../packages/core/src/config/schema/agent.ts";
import { beyond, reachOf } from "../../packages/core/src/config/trust/reach.ts";
import { agentOf } from "../support/fleet.ts";
import { folderWith } from "../support/folder.ts";
import { fromSchema } from "../support/from-schema.ts";

const secrets = { API_KEY: "canary-of-the-fleet", GRANTED: "granted-value" };
const grants = { variables: ["GRANTED"], workspace_roots: ["./roots"] };

const jira = { command: "jira", env: { TOKEN: "x" } };
const hook = { type: "shell", command: "notify" };
const wall = { timeouts: { wall: "1h" } };
/** What fleet files say that contain their agents; each gives them something else. */
const fleets: { defaults: object; overrides?: object }[] = [
  { defaults: { ...wall, docker: { enabled: true } } },
  {
    defaults: {
      ...wall,
      docker: { enabled: true, network: "bridge", egress: ["npm"], memory: "1g" },
    },
    overrides: { permission_mode: "plan", docker: { workspace_mode: "ro" } },
  },
  {
    defaults: { ...wall, mcp_servers: { jira }, hooks: { after_run: [hook] }, max_budget_usd: 1 },
    overrides: { docker: { enabled: true }, max_concurrent: 2 },
  },
  {
    defaults: {
      ...wall,
      docker: { enabled: true },
      working_directory: { path: "./repo" },
      schedules: { s: { type: "interval", every: "5m", gate: { command: "check" } } },
    },
    overrides: { chat: { discord: { token_env: "BOT", users: ["1"] } } },
  },
];

/** A fleet whose one agent file can be written anew. */
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
  const folder = folderWith({
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

/** What a file gave its agent that the fleet file did not grant. */
function gained(fleet: ReturnType<typeof fleetIn>, agent: object): string[] | undefined {
  const together = fleet.resolve(agent);
  if (!together) return undefined;
  const canary = JSON.stringify(together).includes(secrets.API_KEY) ? ["a secret"] : [];
  const further = beyond(reachOf(fleet.alone), reachOf(together));
  return [...canary, ...further.filter((one) => !isGranted(one, fleet.folder))];
}

function isGranted(touched: string, folder: string): boolean {
  return (
    touched.startsWith(`folder ${folder}/`) || ["variable GRANTED", "agent twin"].includes(touched)
  );
}

const anyAgent = fromSchema(agentSchema).map((agent) => ({ ...(agent as object) }));

test("whatever a limited file says, its agent reaches no more than with an empty file", {
  timeout: 60_000,
}, () => {
  const limited = fleets.map((fleet) => fleetIn(fleet, grants));
  const accepted = new Set<string>();
  fc.assert(
    fc.property(fc.constantFrom(...limited), anyAgent, (fleet, agent) => {
      const more = gained(fleet, agent);
      if (!more) return;
      for (const field of Object.keys(agent)) accepted.add(field);
      expect(more, JSON.stringify(agent)).toEqual([]);
    }),
    { numRuns: 500 },
  );
  expect(accepted.size).toBeGreaterThan(10);
});

test("files that the fleet file trusts show that the same files would reach more", () => {
  const trusted = fleets.map((fleet) => fleetIn(fleet, { ...grants, trust: "full" }));
  const samples = fc.sample(fc.tuple(fc.constantFrom(...trusted), anyAgent), {
    numRuns: 160,
    seed: 29,
  });
  const reached = new Set(samples.flatMap(([fleet, agent]) => gained(fleet, agent) ?? []));
  expect(reached.size).toBeGreaterThan(10);
});
