import { z } from "zod";
import { duration } from "./quantities.ts";
import { someText, url, variableName } from "./texts.ts";
import { block, fleetOnly } from "./trust.ts";

const fleetFileOnly = <T extends z.ZodType>(schema: T) =>
  fleetOnly(schema, "it decides who can talk to the agent, with whose token and where");

const mode = z.enum(["mention", "auto"]).describe("Answer when mentioned, or every message");
const ids = z.array(someText).prefault([]);

const common = {
  token_env: fleetFileOnly(variableName.describe("Variable that holds the bot's token")),
  mode: fleetFileOnly(mode.prefault("mention")),
  direct_mode: fleetFileOnly(mode.prefault("auto").describe("The same, in direct messages")),
  channels: fleetFileOnly(
    z
      .record(someText, block({ mode: fleetFileOnly(mode.optional()) }))
      .prefault({})
      .describe("Channels where the agent listens, by id; everywhere when none is named"),
  ),
  context_messages: fleetFileOnly(
    z.int().min(0).max(100).prefault(10).describe("Earlier messages given along"),
  ),
  users: fleetFileOnly(ids.describe("Users who may speak to the agent, by id; `*` for everybody")),
  direct_messages: fleetFileOnly(
    ids.describe("Users who may write directly; nobody when none is named"),
  ),
  approvers: fleetFileOnly(ids.describe("Users whose word on a permission counts")),
  session_expires: fleetFileOnly(
    duration.prefault("24h").describe("A conversation begins anew after this time"),
  ),
  footer: fleetFileOnly(
    z.boolean().prefault(false).describe("Show cost and duration below answers"),
  ),
};

const discord = block({
  ...common,
  base_url: fleetFileOnly(
    url("https", "http").prefault("https://discord.com/api").describe("Address of the API"),
  ),
  guilds: fleetFileOnly(ids.describe("Servers where the agent listens")),
  roles: fleetFileOnly(ids.describe("Roles whose members may speak to the agent")),
});

const slack = block({
  ...common,
  app_token_env: fleetFileOnly(variableName.describe("Variable that holds the app-level token")),
  base_url: fleetFileOnly(
    url("https", "http").prefault("https://slack.com/api/").describe("Address of the API"),
  ),
  workspaces: fleetFileOnly(ids.describe("Workspaces where the agent listens")),
});

export const chat = block({
  discord: fleetFileOnly(discord.optional().describe("The agent as a Discord bot")),
  slack: fleetFileOnly(slack.optional().describe("The agent as a Slack app")),
});
