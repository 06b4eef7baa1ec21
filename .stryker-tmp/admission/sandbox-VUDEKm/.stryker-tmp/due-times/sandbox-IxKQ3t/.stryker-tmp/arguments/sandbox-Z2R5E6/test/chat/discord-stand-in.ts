import { discord } from "@herdctl/discord";
import { DiscordStandIn, type DiscordStandInOptions } from "@herdctl/discord/stand-in";
import { waitUntil } from "../support/fleet-child-process.ts";
import type { ChatStandIn, ObservedPost } from "./chat-stand-in.ts";

export async function startDiscordStandIn(
  options: DiscordStandInOptions = {},
): Promise<ChatStandIn & { discord: DiscordStandIn }> {
  const server = await DiscordStandIn.start(options);
  const { world } = server;
  const answered = (token: string) =>
    waitUntil("the bot to respond", async () => server.responseTo(token));
  const posts = (room: string): ObservedPost[] =>
    world
      .messagesIn(room)
      .filter(({ author }) => author === world.bot.id)
      .map(({ id, content, edits, originalContent, components, attachments }) => ({
        id,
        text: content,
        texts: [originalContent, ...edits.map((edit) => edit.content)],
        buttons: flattenComponents(components).flatMap(({ label }) => label ?? []),
        options: flattenComponents(components).flatMap(({ options = [] }) =>
          options.map((o) => o.label),
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
    smallPrint: (text) => `-# ${text}`,
    maxPostLength: 2000,
    userId: (name) => world.user(name).id,
    channel: (name) => server.channel(name),
    thread: (name, channel) => server.thread(name, channel),
    direct: (user) => world.direct(world.user(user).id).id,
    threadsOf: () => [],
    say: (channel, user, text, more) => server.sendMessage({ channel, user, text, ...more }).id,
    replyToHook: (channel, post, user, text) => {
      const replyTo = server.postAsBot(channel, post).id;
      server.sendMessage({ channel, user, text, replyTo });
      return channel;
    },
    repeat: (id) => {
      const message = world.messages.find((one) => one.id === id);
      if (message) server.redeliver(message);
    },
    posts,
    marks: (id) => world.messages.find((one) => one.id === id)?.reactions ?? [],
    signsOfWork: (room) => server.rest.typing.filter((one) => one === room).length,
    reply: (channel, replyTo, user, text) =>
      server.sendMessage({ channel, user, text, replyTo }).id,
    choose: (_, postId, labels, user) => {
      const message = world.messages.find(({ id }) => id === postId);
      if (!message) throw new Error("there is no such post");
      return answered(server.chooseFromMenu(message, labels, user));
    },
    press: (_, postId, label, user) => {
      const message = world.messages.find(({ id }) => id === postId);
      if (!message) throw new Error("there is no such post");
      return answered(server.pressButton(message, label, user));
    },
    command: (room, user, name, argument) =>
      answered(server.runSlashCommand(room, user, name, argument)),
    drop: () => server.gateway.disconnectAll(),
    connections: () => server.gateway.connectionCount,
    refusals: () => server.limits.rejectedCount,
    loseNextAnswer: (call, then) => {
      let isLost = false;
      const wanted = call === "edit" ? /^PATCH .*\/messages\/\d+$/ : /^POST .*\/messages$/;
      server.rest.faults.push((method, path, { files }) => {
        const isMeant = wanted.test(`${method} ${path}`) && (call !== "file" || files.length > 0);
        if (isLost || !isMeant) return undefined;
        isLost = true;
        then?.();
        return "lose";
      });
    },
    refuseFiles: () => {
      const refusal = { message: "Request entity too large", code: 40_005 };
      server.rest.faults.push((_, __, { files }) =>
        files.length > 0 ? [413, refusal] : undefined,
      );
    },
    stop: () => server.stop(),
  };
}

interface MessageComponent {
  label?: string;
  options?: { label: string }[];
}

function flattenComponents(rows: unknown[]): MessageComponent[] {
  return rows.flatMap((row) => (row as { components: MessageComponent[] }).components);
}
