export { DiscordStandIn, type DiscordStandInOptions } from "./stand-in/discord-stand-in.ts";
