import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Gateway } from "./gateway.ts";
import { channelObject, memberObject, messageObject, userObject } from "./objects.ts";
import { type RateLimit, RateLimits } from "./rate-limit.ts";
import { Rest } from "./rest.ts";
import { World, type WorldMessage } from "./world.ts";

export interface DiscordStandInOptions {
  token?: string;
  heartbeat?: number;
  /** Of posts, and of edits, in each channel. */
  limit?: RateLimit;
  withheldIntents?: number;
}

export interface SaidMessage {
  channel: string;
  user: string;
  text: string;
  roles?: string[];
  replyTo?: string;
  attachments?: { name: string; type: string; content: string }[];
}

/** Discord's own limit for posts in a channel. */
const usualLimit = { requests: 5, milliseconds: 5_000 };
const messageContent = (1 << 18) | (1 << 19);

/**
 * A Discord with one server on loopback, for rehearsals and tests: REST, gateway and people who
 * speak when they are told to. The real client library connects to it.
 */
export class DiscordStandIn {
  readonly world = new World();
  readonly token: string;
  readonly limits: RateLimits;
  readonly rest: Rest;
  readonly gateway: Gateway;
  private readonly http = createServer((request, response) => {
    void this.rest.serve(request, response).catch(() => response.destroy());
  });

  private constructor({
    token = "discord-stand-in-token",
    heartbeat = 41_250,
    limit = usualLimit,
    withheldIntents = 0,
  }: DiscordStandInOptions) {
    this.token = token;
    this.limits = new RateLimits(limit);
    this.rest = new Rest(this.world, {
      token,
      limits: this.limits,
      applicationFlags: withheldIntents === 0 ? messageContent : 0,
      gatewayUrl: () => this.gatewayUrl,
      filesUrl: () => `${this.origin}`,
      changed: (kind, message) => this.gateway.dispatch(kind, messageObject(this.world, message)),
    });
    const options = { token, heartbeat, withheldIntents };
    this.gateway = new Gateway(this.world, this.http, options, () => this.gatewayUrl);
  }

  static async start(options: DiscordStandInOptions = {}): Promise<DiscordStandIn> {
    const discord = new DiscordStandIn(options);
    await new Promise<void>((done) => discord.http.listen(0, "127.0.0.1", done));
    return discord;
  }

  async stop(): Promise<void> {
    this.gateway.close();
    this.http.closeAllConnections();
    await new Promise((done) => this.http.close(done));
  }

  /** For `base_url` in the configuration of an agent. */
  get url(): string {
    return `${this.origin}/api`;
  }

  channel(name: string): string {
    const channel = this.world.channel(name);
    this.gateway.dispatch("CHANNEL_CREATE", channelObject(this.world, channel));
    return channel.id;
  }

  thread(name: string, parent: string): string {
    const thread = this.world.thread(name, parent);
    this.gateway.dispatch("THREAD_CREATE", channelObject(this.world, thread));
    return thread.id;
  }

  /** Somebody says something; `@herd` in it mentions the bot. */
  say({ channel, user, text, roles, replyTo, attachments = [] }: SaidMessage): WorldMessage {
    const author = this.world.user(user, roles);
    const message = this.world.say({
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
    this.repeat(message);
    return message;
  }

  /** Another program posts something, as a hook does. */
  announce(channel: string, text: string): WorldMessage {
    const program = Object.assign(this.world.user("a hook"), { bot: true });
    const message = this.world.say({ channel, author: program.id, content: text });
    this.repeat(message);
    return message;
  }

  /** The same event once more. */
  repeat(message: WorldMessage): void {
    this.gateway.dispatch("MESSAGE_CREATE", messageObject(this.world, message));
  }

  /** Somebody presses a button of a message; what the bot says to that comes in `responses`. */
  press(message: WorldMessage, label: string, user: string): string {
    const button = partsOf<Button>(message.components).find((one) => one.label === label);
    if (!button) throw new Error(`there is no button ${label}`);
    const data = { custom_id: button.custom_id, component_type: 2 };
    const more = { message: messageObject(this.world, message), data };
    return this.interact(3, message.channel, user, more);
  }

  /** Somebody chooses from a menu of a message. */
  choose(message: WorldMessage, labels: string[], user: string): string {
    const menu = partsOf<Menu>(message.components).find(({ options }) => options !== undefined);
    const values = labels.map((label) => menu?.options.find((one) => one.label === label)?.value);
    if (!menu || values.includes(undefined)) throw new Error(`there is no ${labels.join(" or ")}`);
    const data = { custom_id: menu.custom_id, component_type: 3, values };
    const more = { message: messageObject(this.world, message), data };
    return this.interact(3, message.channel, user, more);
  }

  /** Somebody uses a slash command. */
  command(channel: string, user: string, name: string, argument?: string): string {
    const options = argument === undefined ? [] : [{ name: "argument", type: 3, value: argument }];
    const data = { id: "1", name, type: 1, options };
    return this.interact(2, channel, user, { data });
  }

  /** What the bot said to an interaction. */
  responseTo(token: string): string | undefined {
    return this.rest.responses.find((one) => one.token === token)?.content;
  }

  private interact(type: number, channel: string, user: string, more: object): string {
    const id = this.world.snowflake();
    const token = `interaction-${id}`;
    const person = this.world.user(user);
    const place = this.world.channels.get(channel);
    const isDirect = place?.type === 1;
    const who = isDirect
      ? { user: userObject(person) }
      : {
          guild_id: this.world.guild.id,
          member: { user: userObject(person), permissions: "0", ...memberObject(person) },
        };
    this.gateway.dispatch("INTERACTION_CREATE", {
      id,
      application_id: this.world.application,
      type,
      token,
      version: 1,
      channel_id: channel,
      channel: place && channelObject(this.world, place),
      locale: "en-GB",
      entitlements: [],
      authorizing_integration_owners: {},
      attachment_size_limit: 10_000_000,
      ...who,
      ...more,
    });
    return token;
  }

  private get origin(): string {
    return `http://127.0.0.1:${(this.http.address() as AddressInfo).port}`;
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

function partsOf<Part>(rows: unknown[]): Part[] {
  return rows.flatMap((row) => (row as { components: Part[] }).components);
}
