import { z } from "zod";
import { duration } from "./quantities.ts";
import { someText, url, variableName } from "./texts.ts";

const mode = z.enum(["mention", "auto"]).describe("Answer when mentioned, or every message");
const ids = z.array(someText).prefault([]);

const common = {
  token_env: variableName.describe("Variable that holds the bot's token"),
  mode: mode.prefault("mention"),
  direct_mode: mode.prefault("auto").describe("The same, in direct messages"),
  channels: z
    .record(someText, z.strictObject({ mode: mode.optional() }))
    .prefault({})
    .describe("Channels where the agent listens, by id; everywhere when none is named"),
  context_messages: z.int().min(0).max(100).prefault(10).describe("Earlier messages given along"),
  users: ids.describe("Users who may speak to the agent, by id; `*` for everybody"),
  direct_messages: ids.describe("Users who may write directly; nobody when none is named"),
  approvers: ids.describe("Users whose word on a permission counts"),
  session_expires: duration.prefault("24h").describe("A conversation begins anew after this time"),
  footer: z.boolean().prefault(false).describe("Show cost and duration below answers"),
};

const discord = z.strictObject({
  ...common,
  base_url: url("https", "http").prefault("https://discord.com/api").describe("Address of the API"),
  guilds: ids.describe("Servers where the agent listens"),
  roles: ids.describe("Roles whose members may speak to the agent"),
});

const slack = z.strictObject({
  ...common,
  app_token_env: variableName.describe("Variable that holds the app-level token"),
  base_url: url("https", "http").prefault("https://slack.com/api/").describe("Address of the API"),
  workspaces: ids.describe("Workspaces where the agent listens"),
});

export const chat = z.strictObject({
  discord: discord.optional().describe("The agent as a Discord bot"),
  slack: slack.optional().describe("The agent as a Slack app"),
});
