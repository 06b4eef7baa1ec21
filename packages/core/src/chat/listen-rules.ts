import type { Platform } from "../state/chat.ts";
import type { ChatSettings } from "./connector.ts";
import type { ListenRules } from "./what-is-wanted.ts";

type Settings<P extends Platform> = NonNullable<ChatSettings[P]>;

/** The words of the configuration, the same for every platform. */
export function listenRules(settings: ChatSettings, platform: Platform): ListenRules | undefined {
  const { discord, slack } = settings;
  if (platform === "discord" && discord) {
    return { ...common(discord), workspaces: discord.guilds, roles: discord.roles };
  }
  if (platform === "slack" && slack) {
    return { ...common(slack), workspaces: slack.workspaces, roles: [] };
  }
  return undefined;
}

function common(settings: Settings<Platform>) {
  const { users, direct_messages: direct, mode, direct_mode: directMode, channels } = settings;
  const modes = Object.entries(channels).flatMap(([id, one]) => (one.mode ? [[id, one.mode]] : []));
  return {
    users,
    direct,
    mode,
    directMode,
    channels: Object.keys(channels),
    modes: Object.fromEntries(modes),
  };
}
