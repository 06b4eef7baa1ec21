import type { ChatCheck, ChatLinkOptions } from "@herdctl/core";
import { ApplicationFlags, REST, Routes } from "discord.js";
import { discordError } from "./discord-error.ts";
import { type DiscordSettings, settingsOf } from "./settings.ts";

const contentFlags =
  ApplicationFlags.GatewayMessageContent | ApplicationFlags.GatewayMessageContentLimited;

/** Looks at all that can be known of a bot without saying anything as it. */
export async function examineDiscord(link: ChatLinkOptions): Promise<ChatCheck[]> {
  const checks: ChatCheck[] = [];
  const ok = (name: string, message: string) => checks.push({ name, verdict: "ok", message });
  const failed = (name: string, error: unknown) => {
    const { message, hint } = discordError(error);
    checks.push({ name, verdict: "failed", message, hint });
  };
  let settings: DiscordSettings;
  let rest: REST;
  try {
    settings = settingsOf(link);
    rest = new REST({ api: settings.base_url, retries: 1 }).setToken(settings.token);
    const user = (await rest.get(Routes.user())) as { username: string };
    ok("token", `It is ${user.username}.`);
  } catch (error) {
    failed("token", error);
    return checks;
  }
  try {
    const { flags = 0 } = (await rest.get(Routes.currentApplication())) as { flags?: number };
    if ((flags & contentFlags) === 0) throw new Error("Used disallowed intents");
    ok("intents", "It may read what messages say.");
  } catch (error) {
    failed("intents", error);
  }
  checks.push(...(await guildChecks(rest, settings)));
  for (const id of Object.keys(settings.channels)) {
    try {
      const { name } = (await rest.get(Routes.channel(id))) as { name?: string };
      ok(`channel ${id}`, `It sees ${name ?? "it"}.`);
    } catch (error) {
      failed(`channel ${id}`, error);
    }
  }
  return checks;
}

async function guildChecks(rest: REST, { guilds }: DiscordSettings): Promise<ChatCheck[]> {
  const found = (await rest.get(Routes.userGuilds())) as { id: string; name: string }[];
  const absent = guilds.filter((id) => !found.some((one) => one.id === id));
  const names = found.map(({ name }) => name).join(", ") || "none";
  if (absent.length === 0)
    return [{ name: "servers", verdict: "ok", message: `It is in ${names}.` }];
  const hint = "Invite it with the link on the application's page, under OAuth2.";
  const message = `It is not in ${absent.join(", ")}.`;
  return [{ name: "servers", verdict: "failed", message, hint }];
}
