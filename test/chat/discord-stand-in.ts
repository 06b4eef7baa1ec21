import { discord } from "@herdctl/discord";
import { DiscordStandIn, type DiscordStandInOptions } from "@herdctl/discord/stand-in";
import { until } from "../support/fleet-program.ts";
import type { ChatStandIn, SeenPost } from "./chat-stand-in.ts";

export async function discordStandIn(
  options: DiscordStandInOptions = {},
): Promise<ChatStandIn & { discord: DiscordStandIn }> {
  const server = await DiscordStandIn.start(options);
  const { world } = server;
  const answered = (token: string) =>
    until("the bot to respond", async () => server.responseTo(token));
  const posts = (room: string): SeenPost[] =>
    world
      .in(room)
      .filter(({ author }) => author === world.bot.id)
      .map(({ id, content, edits, first, components, attachments }) => ({
        id,
        text: content,
        texts: [first, ...edits.map((edit) => edit.content)],
        buttons: components.flatMap((row) =>
          (row as { components: { label: string }[] }).components.map(({ label }) => label),
        ),
        files: attachments.map(({ filename, url }) => ({
          name: filename,
          content: String(world.files.get(new URL(url).pathname)),
        })),
      }));
  return {
    discord: server,
    platform: "discord",
    platforms: { discord: async () => discord },
    env: { DISCORD_TOKEN: server.token },
    settings: `token_env: DISCORD_TOKEN, base_url: "${server.url}", guilds: ["${world.guild.id}"]`,
    mention: "@herd",
    small: (text) => `-# ${text}`,
    longest: 2000,
    userId: (name) => world.user(name).id,
    channel: (name) => server.channel(name),
    thread: (name, channel) => server.thread(name, channel),
    direct: (user) => world.direct(world.user(user).id).id,
    say: (channel, user, text, more) => server.say({ channel, user, text, ...more }).id,
    replyToHook: (channel, post, user, text) => {
      const replyTo = server.announce(channel, post).id;
      server.say({ channel, user, text, replyTo });
      return channel;
    },
    repeat: (id) => {
      const message = world.messages.find((one) => one.id === id);
      if (message) server.repeat(message);
    },
    posts,
    marks: (id) => world.messages.find((one) => one.id === id)?.reactions ?? [],
    press: (_, postId, label, user) => {
      const message = world.messages.find(({ id }) => id === postId);
      if (!message) throw new Error("there is no such post");
      return answered(server.press(message, label, user));
    },
    command: (room, user, name, argument) => answered(server.command(room, user, name, argument)),
    drop: () => server.gateway.drop(),
    refusals: () => server.limits.refused,
    loseNextAnswer: (call, then) => {
      let isLost = false;
      const wanted = { post: /^POST .*\/messages$/, edit: /^PATCH .*\/messages\/\d+$/ }[call];
      server.rest.mishaps.push((method, path) => {
        if (isLost || !wanted.test(`${method} ${path}`)) return undefined;
        isLost = true;
        then?.();
        return "lose";
      });
    },
    stop: () => server.stop(),
  };
}
