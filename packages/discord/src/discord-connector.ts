import type {
  Connector,
  ConnectorListener,
  ConnectorOptions,
  EarlierMessage,
  IncomingMessage,
  OutgoingPost,
} from "@herdctl/core";
import type { Attachment, ChatRoom } from "@herdctl/protocol";
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
import { findChannelsWithMessagesSince, readMessagesAfter, toSnowflake } from "./channels.ts";
import { toChatError } from "./discord-error.ts";
import { fetchAttachment } from "./fetch-attachment.ts";
import { roomOf, senderOf, toIncomingMessage } from "./incoming-message.ts";
import { toMessageBody } from "./message-body.ts";
import { PresenceIndicator } from "./presence.ts";
import { type DiscordSettings, readSettings } from "./settings.ts";
import { slashCommands } from "./slash-commands.ts";

const { Guilds, GuildMessages, DirectMessages, MessageContent } = GatewayIntentBits;

/** Searches for posts start this much earlier, because clocks may differ. */
const clockSkewMs = 60_000;

/** Connects one agent to Discord as a bot. The library handles reconnects, resumes and rate limits. */
export class DiscordConnector implements Connector {
  readonly limits = { maxTextLength: 2_000, maxFileBytes: 10_000_000, minEditIntervalMs: 1_200 };
  private readonly settings: DiscordSettings;
  private client: Client<true> | undefined;
  private presenceIndicator: PresenceIndicator | undefined;
  private readonly stopController = new AbortController();

  constructor(options: ConnectorOptions) {
    this.settings = readSettings(options);
  }

  async start(listener: ConnectorListener): Promise<void> {
    const client = new Client({
      intents: [Guilds, GuildMessages, DirectMessages, MessageContent],
      partials: [Partials.Channel, Partials.Message],
      rest: { api: this.settings.base_url },
    });
    try {
      this.client = await loginAndWait(client, this.settings.token, this.stopController.signal);
      await this.client.application.commands.set(slashCommands);
    } catch (error) {
      await client.destroy();
      throw toChatError(error);
    }
    this.presenceIndicator = new PresenceIndicator(client);
    this.subscribeToEvents(this.client, listener);
  }

  async stop(): Promise<void> {
    this.stopController.abort(new Error("the bot was stopped"));
    this.presenceIndicator?.stop();
    await this.client?.destroy();
  }

  fits({ text }: OutgoingPost): boolean {
    return text.length <= this.limits.maxTextLength;
  }

  async post(room: ChatRoom, post: OutgoingPost): Promise<string> {
    const files = post.files?.map(({ name, content: data }) => ({ name, data }));
    const body = { ...toMessageBody(post), nonce: post.nonce, enforce_nonce: Boolean(post.nonce) };
    const route = Routes.channelMessages(channelIdOf(room));
    return this.callDiscord((client) => client.rest.post(route, { body, files }), idOfResponse);
  }

  async edit(room: ChatRoom, id: string, post: OutgoingPost): Promise<void> {
    const route = Routes.channelMessage(channelIdOf(room), id);
    const { content, components, allowed_mentions } = toMessageBody(post);
    const body = { content, components, allowed_mentions };
    await this.callDiscord((client) => client.rest.patch(route, { body }), idOfResponse);
  }

  async findPost(room: ChatRoom, post: OutgoingPost, since: Date): Promise<string | undefined> {
    const after = toSnowflake(new Date(since.getTime() - clockSkewMs));
    const messages = await this.callDiscord(
      (client) => readMessagesAfter(client, channelIdOf(room), after),
      (result) => result,
    );
    return messages.find(
      (message) => message.author.id === this.botUserId && isSamePost(message, post),
    )?.id;
  }

  async setTyping(room: ChatRoom, _: string, isWorking: boolean): Promise<void> {
    // Discord removes the typing indicator automatically.
    if (!isWorking) return;
    await this.callDiscord(
      (client) => client.rest.post(Routes.channelTyping(channelIdOf(room))),
      ignore,
    );
  }

  async markSeen(room: ChatRoom, messageId: string): Promise<void> {
    const eyes = encodeURIComponent("👀");
    const route = Routes.channelMessageOwnReaction(channelIdOf(room), messageId, eyes);
    await this.callDiscord((client) => client.rest.put(route), ignore);
  }

  async readEarlier(room: ChatRoom, before: string, count: number): Promise<EarlierMessage[]> {
    const query = new URLSearchParams({ before, limit: String(Math.min(count, 100)) });
    const route = Routes.channelMessages(channelIdOf(room));
    const members = this.client?.guilds.cache.get(room.workspace ?? "")?.members;
    return this.callDiscord(
      (client) => client.rest.get(route, { query }),
      (messages) =>
        (messages as APIMessage[])
          .filter(({ author, content }) => author.id !== this.botUserId && content !== "")
          .map(({ id, author, webhook_id, content: text, timestamp }) => ({
            id,
            sender: {
              id: author.id,
              name: author.global_name ?? author.username,
              // The response has no roles, so only roles of cached members are known.
              roles: [...(members?.cache.get(author.id)?.roles.cache.keys() ?? [])],
              isBot: author.bot === true || webhook_id !== undefined,
            },
            text,
            sentAt: new Date(timestamp),
          }))
          .reverse(),
    );
  }

  async readMissed(since: Date, knownRooms: readonly ChatRoom[]): Promise<IncomingMessage[]> {
    const after = toSnowflake(since);
    const directIds = knownRooms.filter((room) => room.direct).map(channelIdOf);
    return this.callDiscord(
      async (client) => {
        const userIds = this.settings.direct_message_users;
        const channelIds = await findChannelsWithMessagesSince(client, after, userIds);
        const messages: IncomingMessage[] = [];
        for (const id of new Set([...channelIds, ...directIds])) {
          messages.push(...(await this.readChannelMessages(client, id, after)));
        }
        return messages.sort((a, b) => a.sentAt.getTime() - b.sentAt.getTime());
      },
      (messages) => messages,
    );
  }

  download(attachment: Attachment, maxBytes: number): Promise<Buffer> {
    return fetchAttachment(attachment.url, this.settings.base_url, maxBytes);
  }

  async setPresence(isWorking: boolean): Promise<void> {
    this.presenceIndicator?.setWorking(isWorking);
  }

  formatRemark(text: string): string {
    return `-# ${text}`;
  }

  /** Returns no messages for channels that the bot may not read. */
  private async readChannelMessages(client: Client<true>, id: string, since: string) {
    const channel = await client.channels.fetch(id).catch(() => null);
    if (!channel?.isTextBased()) return [];
    const incoming: IncomingMessage[] = [];
    for (let after = since; ; ) {
      const page = await channel.messages.fetch({ after, limit: 100 }).catch(() => undefined);
      const messages = [...(page?.values() ?? [])].reverse();
      incoming.push(...messages.map((message) => toIncomingMessage(message, this.botUserId)));
      after = messages.at(-1)?.id ?? after;
      if (messages.length < 100) return incoming;
    }
  }

  private subscribeToEvents(client: Client<true>, listener: ConnectorListener): void {
    const onMessage = (message: Message) => {
      if (message.author.id === this.botUserId) return;
      listener.onMessage(toIncomingMessage(message, this.botUserId)).catch(() => undefined);
    };
    client.on(Events.MessageCreate, onMessage);
    client.on(
      Events.InteractionCreate,
      (interaction) => void this.handleInteraction(interaction, listener).catch(ignore),
    );
    client.on(Events.ShardReconnecting, () => listener.onProblem("Reconnecting to Discord."));
    client.on(Events.ShardResume, () => listener.onProblem(undefined));
    // A new session does not receive earlier messages.
    client.on(Events.ShardReady, () => {
      listener.onProblem(undefined);
      listener.onReconnected();
    });
    client.on(Events.Invalidated, () =>
      listener.onProblem("Discord invalidated the bot's session."),
    );
    client.on(Events.Error, (error) => listener.onProblem(toChatError(error).message));
  }

  /** Discord expects a response within three seconds, so the reply is deferred immediately. */
  private async handleInteraction(
    interaction: Interaction,
    listener: ConnectorListener,
  ): Promise<void> {
    const isChoice = interaction.isButton() || interaction.isStringSelectMenu();
    if (!interaction.isChatInputCommand() && !isChoice) return;
    await interaction.deferReply({ flags: MessageFlags.Ephemeral });
    const respond = async (text: string) => void (await interaction.editReply({ content: text }));
    const common = { room: roomOf(interaction), sender: senderOf(interaction), respond };
    if (isChoice) {
      const chosenIndexes = interaction.isStringSelectMenu()
        ? interaction.values.map(Number)
        : undefined;
      return listener.onButtonPress({
        ...common,
        value: interaction.customId,
        chosenIndexes,
      });
    }
    const { id, commandName: name } = interaction;
    const argument = interaction.options.getString("argument") ?? "";
    await listener.onCommand({ ...common, id, name, argument });
  }

  private async callDiscord<A, B>(
    call: (client: Client<true>) => Promise<A>,
    toResult: (response: A) => B,
  ): Promise<B> {
    try {
      if (!this.client) throw new Error("the bot is not connected");
      return toResult(await call(this.client));
    } catch (error) {
      throw toChatError(error);
    }
  }

  private get botUserId(): string {
    return this.client?.user.id ?? "";
  }
}

/** Logs in and rejects when stopped: otherwise a bot that is stopped while connecting would stay connected. */
function loginAndWait(
  client: Client,
  token: string,
  stopSignal: AbortSignal,
): Promise<Client<true>> {
  return new Promise((resolve, reject) => {
    stopSignal.addEventListener("abort", () => reject(stopSignal.reason), { once: true });
    stopSignal.throwIfAborted();
    client.once(Events.ClientReady, resolve);
    client.once(Events.Error, reject);
    client.login(token).catch(reject);
  });
}

/** Compares nonces. Discord drops them after a while; then the text and the replied-to message are compared. */
function isSamePost(message: APIMessage, { nonce, text, replyToId }: OutgoingPost): boolean {
  if (message.nonce !== undefined) return message.nonce === nonce;
  const isSameReply = message.message_reference?.message_id === replyToId;
  return text !== "" && message.content === text && isSameReply;
}

function channelIdOf({ thread, channel }: ChatRoom): string {
  return thread ?? channel;
}

function idOfResponse(response: unknown): string {
  return (response as { id: string }).id;
}

function ignore(): void {}
