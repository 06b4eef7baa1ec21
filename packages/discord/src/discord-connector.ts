import type {
  Attachment,
  ChatLinkOptions,
  Connector,
  ConnectorListener,
  EarlierMessage,
  IncomingMessage,
  OutgoingPost,
  Room,
} from "@herdctl/core";
import {
  type APIMessage,
  Client,
  Events,
  GatewayIntentBits,
  type Interaction,
  type Message,
  MessageFlags,
  Partials,
  Routes,
} from "discord.js";
import { channelsWithNews, messagesAfter, snowflakeOf } from "./channels.ts";
import { discordError } from "./discord-error.ts";
import { fetchFile } from "./fetch-file.ts";
import { incomingMessage, roomOf, senderOf } from "./incoming.ts";
import { messageBody } from "./message-body.ts";
import { Presence } from "./presence.ts";
import { type DiscordSettings, settingsOf } from "./settings.ts";
import { slashCommands } from "./slash-commands.ts";

const { Guilds, GuildMessages, DirectMessages, MessageContent } = GatewayIntentBits;

/** Clocks differ; what was posted is looked for from a little before. */
const skew = 60_000;

/** One agent as a bot in Discord. Reconnecting, resuming and rate limits are the library's work. */
export class DiscordConnector implements Connector {
  readonly limits = { text: 2_000, file: 10_000_000, editGap: 1_200 };
  private readonly settings: DiscordSettings;
  private client: Client<true> | undefined;
  private presenceOf: Presence | undefined;
  private readonly stopped = new AbortController();

  constructor(link: ChatLinkOptions) {
    this.settings = settingsOf(link);
  }

  async start(listener: ConnectorListener): Promise<void> {
    const client = new Client({
      intents: [Guilds, GuildMessages, DirectMessages, MessageContent],
      partials: [Partials.Channel, Partials.Message],
      rest: { api: this.settings.base_url },
    });
    try {
      this.client = await ready(client, this.settings.token, this.stopped.signal);
      await this.client.application.commands.set(slashCommands);
    } catch (error) {
      await client.destroy();
      throw discordError(error);
    }
    this.presenceOf = new Presence(client);
    this.listen(this.client, listener);
  }

  async stop(): Promise<void> {
    this.stopped.abort(new Error("the bot was stopped"));
    this.presenceOf?.stop();
    await this.client?.destroy();
  }

  fits({ text }: OutgoingPost): boolean {
    return text.length <= this.limits.text;
  }

  async post(room: Room, post: OutgoingPost): Promise<string> {
    const files = post.files?.map(({ name, content: data }) => ({ name, data }));
    const body = { ...messageBody(post), nonce: post.nonce, enforce_nonce: Boolean(post.nonce) };
    const route = Routes.channelMessages(idOf(room));
    return this.ask((client) => client.rest.post(route, { body, files }), idIn);
  }

  async edit(room: Room, id: string, post: OutgoingPost): Promise<void> {
    const route = Routes.channelMessage(idOf(room), id);
    const { content, components, allowed_mentions } = messageBody(post);
    const body = { content, components, allowed_mentions };
    await this.ask((client) => client.rest.patch(route, { body }), idIn);
  }

  async find(room: Room, post: OutgoingPost, since: Date): Promise<string | undefined> {
    const after = snowflakeOf(new Date(since.getTime() - skew));
    const said = await this.ask(
      (client) => messagesAfter(client, idOf(room), after),
      (found) => found,
    );
    return said.find((one) => one.author.id === this.us && isSame(one, post))?.id;
  }

  async typing(room: Room, _: string, isWorking: boolean): Promise<void> {
    // The sign goes by itself.
    if (!isWorking) return;
    await this.ask((client) => client.rest.post(Routes.channelTyping(idOf(room))), ignore);
  }

  async mark(room: Room, messageId: string): Promise<void> {
    const eyes = encodeURIComponent("👀");
    const route = Routes.channelMessageOwnReaction(idOf(room), messageId, eyes);
    await this.ask((client) => client.rest.put(route), ignore);
  }

  async earlier(room: Room, before: string, count: number): Promise<EarlierMessage[]> {
    const query = new URLSearchParams({ before, limit: String(Math.min(count, 100)) });
    const route = Routes.channelMessages(idOf(room));
    const members = this.client?.guilds.cache.get(room.workspace ?? "")?.members;
    return this.ask(
      (client) => client.rest.get(route, { query }),
      (found) =>
        (found as APIMessage[])
          .filter(({ author, content }) => author.id !== this.us && content !== "")
          .map(({ id, author, webhook_id, content: text, timestamp }) => ({
            id,
            sender: {
              id: author.id,
              name: author.global_name ?? author.username,
              // The route does not tell roles; who is listed by role only counts if known already.
              roles: [...(members?.cache.get(author.id)?.roles.cache.keys() ?? [])],
              isBot: author.bot === true || webhook_id !== undefined,
            },
            text,
            sentAt: new Date(timestamp),
          }))
          .reverse(),
    );
  }

  async missed(since: Date, known: readonly Room[]): Promise<IncomingMessage[]> {
    const after = snowflakeOf(since);
    const direct = known.filter((room) => room.direct).map(idOf);
    return this.ask(
      async (client) => {
        const people = this.settings.direct_messages;
        const found: IncomingMessage[] = [];
        const rooms = [...(await channelsWithNews(client, after, people)), ...direct];
        for (const id of new Set(rooms)) {
          found.push(...(await this.saidIn(client, id, after)));
        }
        return found.sort((a, b) => a.sentAt.getTime() - b.sentAt.getTime());
      },
      (found) => found,
    );
  }

  download(attachment: Attachment, most: number): Promise<Buffer> {
    return fetchFile(attachment.url, this.settings.base_url, most);
  }

  async presence(isWorking: boolean): Promise<void> {
    this.presenceOf?.show(isWorking);
  }

  small(text: string): string {
    return `-# ${text}`;
  }

  /** A channel that we may not read tells us nothing; the others still do. */
  private async saidIn(client: Client<true>, id: string, since: string) {
    const channel = await client.channels.fetch(id).catch(() => null);
    if (!channel?.isTextBased()) return [];
    const found: IncomingMessage[] = [];
    for (let after = since; ; ) {
      const page = await channel.messages.fetch({ after, limit: 100 }).catch(() => undefined);
      const said = [...(page?.values() ?? [])].reverse();
      found.push(...said.map((one) => incomingMessage(one, this.us)));
      after = said.at(-1)?.id ?? after;
      if (said.length < 100) return found;
    }
  }

  private listen(client: Client<true>, listener: ConnectorListener): void {
    const take = (message: Message) => {
      if (message.author.id === this.us) return;
      listener.message(incomingMessage(message, this.us)).catch(() => undefined);
    };
    client.on(Events.MessageCreate, take);
    client.on(Events.InteractionCreate, (one) => void this.hear(one, listener).catch(ignore));
    client.on(Events.ShardReconnecting, () => listener.problem("Discord is being reconnected."));
    client.on(Events.ShardResume, () => listener.problem(undefined));
    // A session of its own has heard nothing of what was said before.
    client.on(Events.ShardReady, () => {
      listener.problem(undefined);
      listener.reconnected();
    });
    client.on(Events.Invalidated, () => listener.problem("Discord ended the bot's session."));
    client.on(Events.Error, (error) => listener.problem(discordError(error).message));
  }

  /** Discord waits three seconds for a word: it is told at once that one will come. */
  private async hear(interaction: Interaction, listener: ConnectorListener): Promise<void> {
    const isChoice = interaction.isButton() || interaction.isStringSelectMenu();
    if (!interaction.isChatInputCommand() && !isChoice) return;
    await interaction.deferReply({ flags: MessageFlags.Ephemeral });
    const respond = async (text: string) => void (await interaction.editReply({ content: text }));
    const common = { room: roomOf(interaction), sender: senderOf(interaction), respond };
    if (isChoice) {
      const chosen = interaction.isStringSelectMenu() ? interaction.values.map(Number) : undefined;
      return listener.press({ ...common, value: interaction.customId, chosen });
    }
    const { id, commandName: name } = interaction;
    const argument = interaction.options.getString("argument") ?? "";
    await listener.command({ ...common, id, name, argument });
  }

  private async ask<A, B>(
    work: (client: Client<true>) => Promise<A>,
    read: (answer: A) => B,
  ): Promise<B> {
    try {
      if (!this.client) throw new Error("the bot is not connected");
      return read(await work(this.client));
    } catch (error) {
      throw discordError(error);
    }
  }

  private get us(): string {
    return this.client?.user.id ?? "";
  }
}

/** Whoever is stopped while it connects would stay connected, or go on trying, for ever. */
function ready(client: Client, token: string, stopped: AbortSignal): Promise<Client<true>> {
  return new Promise((resolve, reject) => {
    stopped.addEventListener("abort", () => reject(stopped.reason), { once: true });
    stopped.throwIfAborted();
    client.once(Events.ClientReady, resolve);
    client.once(Events.Error, reject);
    client.login(token).catch(reject);
  });
}

/** Discord keeps the nonce for a while; after that the words and what they answer tell. */
function isSame(one: APIMessage, { nonce, text, replyTo }: OutgoingPost): boolean {
  if (one.nonce !== undefined) return one.nonce === nonce;
  return text !== "" && one.content === text && one.message_reference?.message_id === replyTo;
}

function idOf({ thread, channel }: Room): string {
  return thread ?? channel;
}

function idIn(answer: unknown): string {
  return (answer as { id: string }).id;
}

function ignore(): void {}
