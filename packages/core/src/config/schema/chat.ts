import { z } from "zod";
import { duration } from "./quantities.ts";
import { someText, variableName } from "./texts.ts";

const mode = z.enum(["mention", "auto"]).describe("Answer when mentioned, or every message");
const ids = z.array(someText).prefault([]);

const common = {
  token_env: variableName.describe("Variable that holds the bot's token"),
  mode: mode.prefault("mention"),
  channels: z.record(someText, z.strictObject({ mode })).prefault({}).describe("Mode by channel"),
  context_messages: z.int().min(0).max(100).prefault(10).describe("Earlier messages given along"),
  users: ids.describe("Users who may speak to the agent"),
  direct_messages: ids.describe("Users who may write directly"),
  approvers: ids.describe("Users whose button presses count"),
  session_expires: duration.prefault("24h").describe("A conversation begins anew after this time"),
  footer: z.boolean().prefault(false).describe("Show cost and duration below answers"),
};

const discord = z.strictObject({
  ...common,
  guilds: ids.describe("Servers where the agent listens"),
  roles: ids.describe("Roles whose members may speak to the agent"),
});

const slack = z.strictObject({
  ...common,
  app_token_env: variableName.describe("Variable that holds the app-level token"),
  workspaces: ids.describe("Workspaces where the agent listens"),
});

export const chat = z.strictObject({
  discord: discord.optional().describe("The agent as a Discord bot"),
  slack: slack.optional().describe("The agent as a Slack app"),
});
