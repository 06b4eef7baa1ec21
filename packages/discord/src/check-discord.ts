import type { ChatCheck, ConnectorOptions } from "@herdctl/core";
import { ApplicationFlags, REST, Routes } from "discord.js";
import { toChatError } from "./discord-error.ts";
import { type DiscordSettings, readSettings } from "./settings.ts";

const messageContentFlags =
  ApplicationFlags.GatewayMessageContent | ApplicationFlags.GatewayMessageContentLimited;

/** Checks the configuration of a bot without posting anything. */
export async function checkDiscord(options: ConnectorOptions): Promise<ChatCheck[]> {
  const checks: ChatCheck[] = [];
  const ok = (name: string, message: string) => checks.push({ name, verdict: "ok", message });
  const failed = (name: string, error: unknown) => {
    const { message, hint } = toChatError(error);
    checks.push({ name, verdict: "failed", message, hint });
  };
  let settings: DiscordSettings;
  let rest: REST;
  try {
    settings = readSettings(options);
    rest = new REST({ api: settings.base_url, retries: 1 }).setToken(settings.token);
    const user = (await rest.get(Routes.user())) as { username: string };
    ok("token", `Signed in as ${user.username}.`);
  } catch (error) {
    failed("token", error);
    return checks;
  }
  try {
    const { flags = 0 } = (await rest.get(Routes.currentApplication())) as { flags?: number };
    if ((flags & messageContentFlags) === 0) throw new Error("Used disallowed intents");
    ok("intents", "The Message Content intent is enabled.");
  } catch (error) {
    failed("intents", error);
  }
  checks.push(...(await checkGuilds(rest, settings)));
  for (const id of Object.keys(settings.channels)) {
    try {
      const { name } = (await rest.get(Routes.channel(id))) as { name?: string };
      ok(`channel ${id}`, `The bot can see ${name ?? "the channel"}.`);
    } catch (error) {
      failed(`channel ${id}`, error);
    }
  }
  return checks;
}

async function checkGuilds(rest: REST, { guilds }: DiscordSettings): Promise<ChatCheck[]> {
  const joinedGuilds = (await rest.get(Routes.userGuilds())) as { id: string; name: string }[];
  const missingGuilds = guilds.filter((id) => !joinedGuilds.some((guild) => guild.id === id));
  const names = joinedGuilds.map(({ name }) => name).join(", ") || "none";
  if (missingGuilds.length === 0)
    return [{ name: "servers", verdict: "ok", message: `The bot is in ${names}.` }];
  const hint = "Invite the bot with the link on the application's page, under OAuth2.";
  const message = `The bot is not in ${missingGuilds.join(", ")}.`;
  return [{ name: "servers", verdict: "failed", message, hint }];
}
