import { z } from "zod";
import { allowances } from "../allowances.ts";
import { budget } from "./agent.ts";
import { count, duration, usd } from "./quantities.ts";
import { hostPath, name, url, variableName } from "./texts.ts";
import { timezone } from "./time.ts";
import { checkedText, Wrong } from "./wrong.ts";

const retention = z.strictObject({
  age: duration
    .prefault("30d")
    .describe("Finished jobs and deliveries older than this are removed"),
  jobs_per_agent: count.prefault(1000).describe("Finished jobs of each agent that are kept"),
  deliveries: count.prefault(1000).describe("Webhook deliveries that are kept"),
});

const chain = z.strictObject({
  max_depth: count.prefault(3).describe("How often work may be handed on from agent to agent"),
  max_jobs: count.prefault(10).describe("Jobs of a chain, the first one included"),
  max_cost_usd: usd.prefault(5).describe("Dollars that all jobs of a chain may cost together"),
});

const identity = z.strictObject({
  name: name.describe("Name of the fleet"),
  description: z.string().optional().describe("What the fleet is for"),
  timezone: timezone
    .optional()
    .describe("Time zone of its schedules; the machine's when not given"),
  max_concurrent: count.optional().describe("Runs at the same time in the whole fleet"),
  warm: z
    .boolean()
    .prefault(true)
    .describe("Keep a runner ready, so that a job starts at once; it takes about 80 MB"),
  live: z
    .int()
    .min(0)
    .prefault(4)
    .describe("Conversations whose `claude` stays up at once; each takes about 160 MB"),
  watch: z.boolean().prefault(true).describe("Reload when the configuration's files change"),
  budget: budget.prefault({}).describe("Limits for a day, all agents together"),
  chain: chain.prefault({}).describe("Limits for jobs that agents give each other"),
  retention: retention.prefault({}).describe("How long finished jobs and their logs are kept"),
});

const host = checkedText((text) =>
  /^[A-Za-z0-9.:-]+$/.test(text)
    ? undefined
    : new Wrong(`"${text}" is not an address`, "Write an address such as `127.0.0.1`."),
);

const hostName = checkedText((text) =>
  /^[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?$/.test(text)
    ? undefined
    : new Wrong(`"${text}" is not the name of a host`, "Write it such as `herd.example.org`."),
);
const mcp = z.strictObject({
  token_env: variableName.describe("Variable that holds the token of whoever connects"),
  allow: z
    .array(z.enum(allowances))
    .prefault([])
    .describe("What may be done beyond looking: `trigger`, `answer`, `cancel`"),
});

const server = z.strictObject({
  port: z.int().min(1).max(65_535).prefault(3232).describe("Port of dashboard, API and webhooks"),
  host: host.prefault("127.0.0.1").describe("Address it listens on"),
  peer_host: host
    .optional()
    .describe(
      "Address on which a node listens for the other nodes; the one towards the database when not given",
    ),
  names: z
    .array(hostName)
    .prefault([])
    .describe("Names by which browsers and MCP clients may call it, besides its address"),
  token_env: variableName
    .optional()
    .describe("Variable that holds a token of your own; needed for any address but loopback"),
  read_only_token_env: variableName
    .optional()
    .describe("Variable that holds a token that may look but not touch"),
  mcp: mcp.optional().describe("The fleet as tools of an MCP client, at `/mcp`; off unless given"),
});

/** The content is checked once it is merged into each agent, so that every place is known. */
const partOfAgent = z.record(z.string(), z.unknown());

const grants = {
  trust: z
    .enum(["limited", "full"])
    .prefault("limited")
    .describe("What the files may set for agents in Docker; `full` as if written in this file"),
  variables: z
    .array(variableName)
    .prefault([])
    .describe("Environment variables that limited files may use"),
  workspace_roots: z
    .array(hostPath)
    .prefault([])
    .describe("Folders below which limited files may choose paths, besides this file's folder"),
};

export const agentFileEntry = z.strictObject({
  path: hostPath.describe("Agent file, or a glob of them"),
  ...grants,
  overrides: partOfAgent.optional().describe("What the fleet says over the file"),
});

const agentEntry = z.union([agentFileEntry, z.looseObject({ name: z.unknown() })]);

const rate = z.number().nonnegative();

const price = z.strictObject({
  input: rate.describe("Dollars per million tokens of input"),
  output: rate.describe("Dollars per million tokens of output"),
  cache_read: rate
    .optional()
    .describe("Of input read from the cache; a tenth of `input` unless given"),
  cache_write: rate
    .optional()
    .describe("Of input written to the cache for 5 minutes; 1.25 times `input` unless given"),
  cache_write_1h: rate
    .optional()
    .describe("Of input written to the cache for an hour; twice `input` unless given"),
});

const prices = z.record(z.string().min(1), price);

const includedFleet = z.strictObject({
  path: hostPath.describe("Another herdctl.yaml"),
  name: name.optional().describe("Name in front of its agents; its own when not given"),
  ...grants,
  overrides: partOfAgent.optional().describe("What this fleet says over all its agents"),
});

export const fleetSchema = z.strictObject({
  version: z.literal(1).describe("Version of the format"),
  fleet: identity.describe("The fleet as a whole"),
  defaults: partOfAgent.prefault({}).describe("What every agent begins with"),
  agents: z.array(agentEntry).prefault([]).describe("Agent files, globs, or agents written here"),
  fleets: z.array(includedFleet).prefault([]).describe("Other fleets that run with this one"),
  server: server.prefault({}).describe("Where the fleet listens"),
  prices: prices
    .prefault({})
    .describe(
      "Prices of models, by name or pattern such as `claude-opus-*`, in place of list prices",
    ),
  claude_path: hostPath.optional().describe("The `claude` program to use"),
  store: url("postgres", "postgresql")
    .optional()
    .describe(
      "PostgreSQL that several machines share, such as `${HERDCTL_STORE}`; a database of its own when not given",
    ),
});

export type FleetFile = z.output<typeof fleetSchema>;
