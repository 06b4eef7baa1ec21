import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { toChannelObject, toMemberObject, toMessageObject, toUserObject } from "./api-objects.ts";
import { DiscordState, type MessageState } from "./discord-state.ts";
import { GatewayServer } from "./gateway.ts";
import { type RateLimit, RateLimiter } from "./rate-limit.ts";
import { RestApi } from "./rest-api.ts";

export interface DiscordStandInOptions {
  token?: string;
  heartbeatIntervalMs?: number;
  /** Applies to posts and edits separately, per channel. */
  rateLimit?: RateLimit;
  deniedIntents?: number;
}

export interface SayOptions {
  channel: string;
  user: string;
  text: string;
  roles?: string[];
  replyTo?: string;
  attachments?: { name: string; type: string; content: string }[];
}

/** Discord's limit for posts in a channel. */
const defaultRateLimit = { maxRequests: 5, windowMs: 5_000 };
const messageContentFlags = (1 << 18) | (1 << 19);

/**
 * A Discord with one server on loopback, for rehearsals and tests: REST API, gateway, and users that
 * the test controls. The real client library connects to it.
 */
export class DiscordStandIn {
  readonly world = new DiscordState();
  readonly token: string;
  readonly limits: RateLimiter;
  readonly rest: RestApi;
  readonly gateway: GatewayServer;
  private readonly httpServer = createServer((request, response) => {
    void this.rest.serve(request, response).catch(() => response.destroy());
  });

  private constructor({
    token = "discord-stand-in-token",
    heartbeatIntervalMs = 41_250,
    rateLimit = defaultRateLimit,
    deniedIntents = 0,
  }: DiscordStandInOptions) {
    this.token = token;
    this.limits = new RateLimiter(rateLimit);
    this.rest = new RestApi(this.world, {
      token,
      rateLimiter: this.limits,
      applicationFlags: deniedIntents === 0 ? messageContentFlags : 0,
      gatewayUrl: () => this.gatewayUrl,
      filesUrl: () => `${this.origin}`,
      onMessageChanged: (kind, message) =>
        this.gateway.dispatch(kind, toMessageObject(this.world, message)),
    });
    const options = { token, heartbeatIntervalMs, deniedIntents };
    this.gateway = new GatewayServer(this.world, this.httpServer, options, () => this.gatewayUrl);
  }

  static async start(options: DiscordStandInOptions = {}): Promise<DiscordStandIn> {
    const discord = new DiscordStandIn(options);
    await new Promise<void>((resolve) => discord.httpServer.listen(0, "127.0.0.1", resolve));
    return discord;
  }

  async stop(): Promise<void> {
    this.gateway.close();
    this.httpServer.closeAllConnections();
    await new Promise((resolve) => this.httpServer.close(resolve));
  }

  /** The value for `base_url` in an agent's configuration. */
  get url(): string {
    return `${this.origin}/api`;
  }

  channel(name: string): string {
    const channel = this.world.channel(name);
    this.gateway.dispatch("CHANNEL_CREATE", toChannelObject(this.world, channel));
    return channel.id;
  }

  thread(name: string, parent: string): string {
    const thread = this.world.thread(name, parent);
    this.gateway.dispatch("THREAD_CREATE", toChannelObject(this.world, thread));
    return thread.id;
  }

  /** Sends a message from a user. `@herd` in the text mentions the bot. */
  sendMessage({ channel, user, text, roles, replyTo, attachments = [] }: SayOptions): MessageState {
    const author = this.world.user(user, roles);
    const message = this.world.addMessage({
      channel,
      author: author.id,
      reference: replyTo ?? null,
      content: text.replaceAll("@herd", `<@${this.world.bot.id}>`),
      attachments: attachments.map(({ name, type, content }) => {
        const path = `/attachments/${this.world.snowflake()}/content`;
        const bytes = Buffer.from(content);
        this.world.files.set(path, bytes);
        const url = `${this.origin}${path}`;
        const id = this.world.snowflake();
        return { id, filename: name, size: bytes.length, url, proxy_url: url, content_type: type };
      }),
    });
    this.redeliver(message);
    return message;
  }

  /** Posts a message from another bot, such as a hook. */
  postAsBot(channel: string, text: string): MessageState {
    const program = Object.assign(this.world.user("a hook"), { bot: true });
    const message = this.world.addMessage({ channel, author: program.id, content: text });
    this.redeliver(message);
    return message;
  }

  /** Sends the event of the message again. */
  redeliver(message: MessageState): void {
    this.gateway.dispatch("MESSAGE_CREATE", toMessageObject(this.world, message));
  }

  /** A user presses a button of a message. Returns the token for `responseTo`. */
  pressButton(message: MessageState, label: string, user: string): string {
    const button = componentsOf<Button>(message.components).find(
      (candidate) => candidate.label === label,
    );
    if (!button) throw new Error(`there is no button ${label}`);
    const data = { custom_id: button.custom_id, component_type: 2 };
    const fields = { message: toMessageObject(this.world, message), data };
    return this.sendInteraction(3, message.channel, user, fields);
  }

  /** A user chooses from a menu of a message. Returns the token for `responseTo`. */
  chooseFromMenu(message: MessageState, labels: string[], user: string): string {
    const menu = componentsOf<Menu>(message.components).find(
      ({ options }) => options !== undefined,
    );
    const values = labels.map(
      (label) => menu?.options.find((option) => option.label === label)?.value,
    );
    if (!menu || values.includes(undefined)) throw new Error(`there is no ${labels.join(" or ")}`);
    const data = { custom_id: menu.custom_id, component_type: 3, values };
    const fields = { message: toMessageObject(this.world, message), data };
    return this.sendInteraction(3, message.channel, user, fields);
  }

  /** A user runs a slash command. Returns the token for `responseTo`. */
  runSlashCommand(channel: string, user: string, name: string, argument?: string): string {
    const options = argument === undefined ? [] : [{ name: "argument", type: 3, value: argument }];
    const data = { id: "1", name, type: 1, options };
    return this.sendInteraction(2, channel, user, { data });
  }

  /** The bot's response to an interaction. */
  responseTo(token: string): string | undefined {
    return this.rest.responses.find((response) => response.token === token)?.content;
  }

  private sendInteraction(type: number, channel: string, user: string, fields: object): string {
    const id = this.world.snowflake();
    const token = `interaction-${id}`;
    const author = this.world.user(user);
    const channelState = this.world.channels.get(channel);
    const isDirect = channelState?.type === 1;
    const sender = isDirect
      ? { user: toUserObject(author) }
      : {
          guild_id: this.world.guild.id,
          member: { user: toUserObject(author), permissions: "0", ...toMemberObject(author) },
        };
    this.gateway.dispatch("INTERACTION_CREATE", {
      id,
      application_id: this.world.application,
      type,
      token,
      version: 1,
      channel_id: channel,
      channel: channelState && toChannelObject(this.world, channelState),
      locale: "en-GB",
      entitlements: [],
      authorizing_integration_owners: {},
      attachment_size_limit: 10_000_000,
      ...sender,
      ...fields,
    });
    return token;
  }

  private get origin(): string {
    return `http://127.0.0.1:${(this.httpServer.address() as AddressInfo).port}`;
  }

  private get gatewayUrl(): string {
    return `${this.origin.replace("http", "ws")}/gateway`;
  }
}

interface Button {
  label: string;
  custom_id: string;
}

interface Menu {
  custom_id: string;
  options: { label: string; value: string }[];
}

function componentsOf<Component>(rows: unknown[]): Component[] {
  return rows.flatMap((row) => (row as { components: Component[] }).components);
}
