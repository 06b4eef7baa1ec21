import { allowances } from "@herdctl/protocol";
import { z } from "zod";
import { budget } from "./agent.ts";
import { checkedText, InvalidValue } from "./codec.ts";
import { count, duration, usd } from "./quantities.ts";
import { hostPath, name, url, variableName } from "./strings.ts";
import { timezone } from "./time.ts";

const retention = z.strictObject({
  age: duration
    .prefault("30d")
    .describe("Age after which finished jobs and deliveries are removed."),
  jobs_per_agent: count
    .prefault(1000)
    .describe("Maximum number of finished jobs to keep per agent."),
  deliveries: count.prefault(1000).describe("Maximum number of webhook deliveries to keep."),
});

const chain = z.strictObject({
  max_depth: count.prefault(3).describe("Maximum depth of delegation from agent to agent."),
  max_jobs: count.prefault(10).describe("Maximum number of jobs in a chain, including the first."),
  max_cost_usd: usd.prefault(5).describe("Maximum cost of all jobs of a chain in US dollars."),
});

const fleetSettings = z.strictObject({
  name: name.optional().describe("Name of the fleet. Default: name of the folder."),
  description: z.string().optional().describe("Purpose of the fleet."),
  timezone: timezone
    .optional()
    .describe("IANA time zone of its schedules. Default: the machine's time zone."),
  max_concurrent: count
    .optional()
    .describe("Maximum number of runs at the same time in the whole fleet. Default: 10."),
  max_keep_alive: z
    .int()
    .min(0)
    .prefault(4)
    .describe(
      "Maximum number of sessions and processes kept ready (`keep_alive`) in the whole fleet; `0` also turns off pre-started runners.",
    ),
  watch: z.boolean().prefault(true).describe("Reload the configuration when its files change."),
  budget: budget.prefault({}).describe("Daily limits for all agents together."),
  chain: chain.prefault({}).describe("Limits for chains of delegated jobs."),
  retention: retention.prefault({}).describe("How long finished jobs and their logs are kept."),
});

const host = checkedText((text) =>
  /^[A-Za-z0-9.:-]+$/.test(text)
    ? undefined
    : new InvalidValue(`"${text}" is not an address`, "Write an address such as `127.0.0.1`."),
);

const hostName = checkedText((text) =>
  /^[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?$/.test(text)
    ? undefined
    : new InvalidValue(`"${text}" is not a host name`, "Write a name such as `herd.example.org`."),
);
const mcp = z.strictObject({
  token_env: variableName.describe("Environment variable with the token of MCP clients."),
  allow: z
    .array(z.enum(allowances))
    .prefault([])
    .describe("What MCP clients may do besides reading: `trigger`, `answer`, `cancel`."),
});

const push = z.strictObject({
  contact: url("https")
    .optional()
    .describe(
      "URL at which push services can reach the operator. Default: `server.public_url`, or the page of herdctl.",
    ),
  allow_private: z
    .boolean()
    .prefault(false)
    .describe(
      "Allow push services without TLS and at addresses of this machine and of private networks.",
    ),
});

const server = z.strictObject({
  port: z
    .int()
    .min(1)
    .max(65_535)
    .prefault(3232)
    .describe("Port of the dashboard, the API and webhooks."),
  host: host.prefault("127.0.0.1").describe("Address to listen on."),
  peer_host: host
    .optional()
    .describe(
      "Address on which a node listens for other nodes. Default: the address it uses to connect to the database.",
    ),
  allowed_hosts: z
    .array(hostName)
    .prefault([])
    .describe(
      "Host names under which browsers and MCP clients may reach the server, besides its address.",
    ),
  public_url: url("https", "http")
    .optional()
    .describe(
      "URL under which people reach the dashboard, for links in messages. Default: the address of this machine.",
    ),
  token_env: variableName
    .optional()
    .describe(
      "Environment variable with your access token; required if `host` is not a loopback address.",
    ),
  read_only_token_env: variableName
    .optional()
    .describe("Environment variable with a read-only access token."),
  push: push.prefault({}).describe("Notifications of questions in browsers (Web Push)."),
  mcp: mcp.optional().describe("MCP endpoint at `/mcp` with the fleet's tools; off unless set."),
});

/** Checked after it is merged into each agent, so that every problem has a position. */
const partialAgent = z.record(z.string(), z.unknown());

const grantFields = {
  trust: z
    .enum(["limited", "full"])
    .prefault("limited")
    .describe(
      "Settings that the file may make for agents in Docker: `limited` by trust class, or `full`, as if written in this file.",
    ),
  variables: z
    .array(variableName)
    .prefault([])
    .describe("Environment variables that limited files may use."),
  workspace_roots: z
    .array(hostPath)
    .prefault([])
    .describe("Folders, besides this file's folder, below which limited files may choose paths."),
};

export const agentFileEntry = z.strictObject({
  path: hostPath.describe("Agent file, or a glob of agent files."),
  ...grantFields,
  overrides: partialAgent.optional().describe("Settings that override those of the file."),
});

const agentEntry = z.union([agentFileEntry, z.looseObject({ name: z.unknown() })]);

const tokenPrice = z.number().nonnegative();

const price = z.strictObject({
  input: tokenPrice.describe("US dollars per million input tokens."),
  output: tokenPrice.describe("US dollars per million output tokens."),
  cache_read: tokenPrice
    .optional()
    .describe(
      "US dollars per million input tokens read from the cache. Default: a tenth of `input`.",
    ),
  cache_write: tokenPrice
    .optional()
    .describe(
      "US dollars per million input tokens written to the cache for 5 minutes. Default: 1.25 times `input`.",
    ),
  cache_write_1h: tokenPrice
    .optional()
    .describe(
      "US dollars per million input tokens written to the cache for an hour. Default: twice `input`.",
    ),
});

const prices = z.record(z.string().min(1), price);

const includedFleet = z.strictObject({
  path: hostPath.describe("Path of another `herdctl.yaml` or of its folder."),
  name: name
    .optional()
    .describe("Prefix for the names of its agents. Default: the name of that fleet."),
  ...grantFields,
  overrides: partialAgent.optional().describe("Settings that override those of all its agents."),
});

export const fleetSchema = z.strictObject({
  version: z.literal(1).describe("Version of the file format."),
  fleet: fleetSettings.prefault({}).describe("Settings of the fleet as a whole."),
  defaults: partialAgent.prefault({}).describe("Settings that every agent starts from."),
  agents: z
    .array(agentEntry)
    .prefault([])
    .describe("Agent files, globs, or agents written inline."),
  fleets: z.array(includedFleet).prefault([]).describe("Other fleets to include."),
  server: server.prefault({}).describe("HTTP server of the fleet."),
  prices: prices
    .prefault({})
    .describe(
      "Prices of models, by name or pattern such as `claude-opus-*`. They replace list prices.",
    ),
  claude_path: hostPath.optional().describe("Path of the `claude` program."),
  store: url("postgres", "postgresql")
    .optional()
    .describe(
      "PostgreSQL database that several machines share, such as `${HERDCTL_STORE}`. Default: an embedded database.",
    ),
});

export type FleetFile = z.output<typeof fleetSchema>;
