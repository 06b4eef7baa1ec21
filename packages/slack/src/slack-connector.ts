import {
  type Attachment,
  ChatError,
  type ChatLinkOptions,
  type Connector,
  type ConnectorListener,
  type EarlierMessage,
  type IncomingMessage,
  type OutgoingPost,
  type Room,
} from "@herdctl/core";
import { WebClient } from "@slack/web-api";
import { hearEnvelope } from "./envelopes.ts";
import { fetchFile } from "./fetch-file.ts";
import { incomingMessage, isSpoken, type SlackMessage, stampOf, timeOf, tsOf } from "./incoming.ts";
import { maxSectionLength, messageBody } from "./message-body.ts";
import { plain } from "./mrkdwn.ts";
import { listedTypes } from "./scopes.ts";
import { type SlackSettings, settingsOf } from "./settings.ts";
import { type Envelope, SharedSocket, type SocketListener } from "./shared-socket.ts";
import { silentLogger } from "./silent-logger.ts";
import { slackError } from "./slack-error.ts";

/** Clocks differ; what was posted is looked for from a little before. */
const skew = 60_000;
const eventType = "herdctl_post";
/** Slack puts the app's name before it. */
const workingStatus = "is working on it …";

/** One agent as an app in Slack. Reconnecting and rate limits are the library's work. */
export class SlackConnector implements Connector {
  readonly limits = { text: 3_800, file: 20_000_000, editGap: 1_500 };
  private readonly settings: SlackSettings;
  private readonly web: WebClient;
  private readonly signs: WebClient;
  private readonly names = new Map<string, string>();
  private readonly beginnings = new Map<string, string | undefined>();
  private socket: { shared: SharedSocket; listener: SocketListener } | undefined;
  private isStopped = false;
  private self = { team: "", us: "" };
  private roomTypes: string[] = [];
  private showsStatus = true;

  constructor(link: ChatLinkOptions) {
    this.settings = settingsOf(link);
    const options = {
      slackApiUrl: this.settings.base_url,
      logger: silentLogger,
      // A call that is made again could post twice: whoever calls looks first.
      retryConfig: { retries: 0 },
    };
    this.web = new WebClient(this.settings.token, options);
    // A client that waits for a limit lets all its calls wait: no sign is worth that.
    this.signs = new WebClient(this.settings.token, { ...options, rejectRateLimitedCalls: true });
  }

  async start(listener: ConnectorListener): Promise<void> {
    await this.ask(async () => {
      const answer = await this.web.auth.test();
      const { user_id: us = "", team_id: team = "", response_metadata } = answer;
      this.self = { us, team };
      this.roomTypes = listedTypes(response_metadata?.scopes ?? []);
      const shared = SharedSocket.of(this.settings.appToken, this.settings.base_url);
      const own: SocketListener = {
        envelope: (envelope) => this.hear(envelope, listener),
        down: () => listener.problem("Slack is being reconnected."),
        connected: () => {
          listener.problem(undefined);
          listener.reconnected();
        },
      };
      this.socket = { shared, listener: own };
      await shared.join(own);
    });
    // Whoever is stopped while it connects would stay connected for ever.
    if (this.isStopped) await this.stop();
  }

  async stop(): Promise<void> {
    this.isStopped = true;
    await this.socket?.shared.leave(this.socket.listener);
  }

  /** Slack counts what the escapes of its own take up. */
  fits(post: OutgoingPost): boolean {
    const { text, blocks } = messageBody(post);
    return text.length <= (blocks.length > 0 ? maxSectionLength : this.limits.text);
  }

  post(room: Room, post: OutgoingPost): Promise<string> {
    const { nonce, files = [] } = post;
    if (files.length > 0) return this.upload(room, files, nonce);
    return this.ask(async () => {
      const { ts = "" } = await this.web.chat.postMessage({
        ...placeOf(room),
        ...messageBody(post),
        metadata: { event_type: eventType, event_payload: { nonce: nonce ?? "" } },
        unfurl_links: false,
        unfurl_media: false,
      });
      return ts;
    });
  }

  async edit(room: Room, ts: string, post: OutgoingPost): Promise<void> {
    await this.ask(() => this.web.chat.update({ channel: room.channel, ts, ...messageBody(post) }));
  }

  async find(room: Room, { nonce = "" }: OutgoingPost, since: Date): Promise<string | undefined> {
    const oldest = stampOf(new Date(since.getTime() - skew));
    const said = await this.said(room, { oldest, limit: 200 });
    const file = ({ files = [] }: SlackMessage) =>
      files.some((one) => one.title?.includes(tag(nonce)));
    return said.find((one) => one.metadata?.event_payload?.nonce === nonce || file(one))?.ts;
  }

  /** Shown below the message, as “herd is working on it …”; not every workspace lets apps do so. */
  async typing({ channel, thread }: Room, messageId: string, isWorking: boolean): Promise<void> {
    if (!this.showsStatus) return;
    const thread_ts = thread ?? tsOf(messageId);
    const status = isWorking ? workingStatus : "";
    try {
      const wanted = { channel_id: channel, thread_ts, status };
      await this.ask(() => this.signs.assistant.threads.setStatus(wanted));
    } catch (error) {
      if (error instanceof ChatError && !error.mayPass) this.showsStatus = false;
    }
  }

  async mark(room: Room, messageId: string): Promise<void> {
    const timestamp = tsOf(messageId);
    const { channel } = room;
    await this.ask(() => this.web.reactions.add({ channel, timestamp, name: "eyes" }));
  }

  async earlier(room: Room, messageId: string, count: number): Promise<EarlierMessage[]> {
    const latest = tsOf(messageId);
    const said = await this.said(room, { latest, limit: count });
    const others = said.filter((one) => isSpoken(one) && one.user !== this.self.us);
    return Promise.all(
      others.slice(-count).map(async ({ ts, user = "", bot_id, text = "" }) => ({
        id: ts,
        sender: { id: user, name: await this.nameOf(user), roles: [], isBot: bot_id !== undefined },
        text: plain(text),
        sentAt: timeOf(ts),
      })),
    );
  }

  async missed(since: Date, known: readonly Room[]): Promise<IncomingMessage[]> {
    const oldest = stampOf(since);
    const rooms = [...(await this.ownChannels()), ...known.filter(({ thread }) => thread !== null)];
    const found: IncomingMessage[] = [];
    for (const room of rooms) {
      const said = await this.said(room, { oldest, limit: 200 }).catch(() => []);
      for (const one of said.filter(isSpoken)) found.push(await this.incoming(room.channel, one));
    }
    return found.sort((a, b) => a.sentAt.getTime() - b.sentAt.getTime());
  }

  download({ url }: Attachment, most: number): Promise<Buffer> {
    return fetchFile(url, this.settings, most);
  }

  /** Slack shows apps as always there. */
  async presence(): Promise<void> {}

  small(text: string): string {
    return `_${text}_`;
  }

  private hear(envelope: Envelope, listener: ConnectorListener): Promise<void> {
    const { team } = this.self;
    return hearEnvelope(envelope, {
      team,
      concerns: (channel, user) => this.concerns(channel) && this.mayBeMeant(channel, user),
      incoming: (channel, message) => this.incoming(channel, message),
      listener,
    });
  }

  /** Agents that share an app have channels of their own. */
  private concerns(channel: string): boolean {
    const named = Object.keys(this.settings.channels);
    return named.length === 0 || channel.startsWith("D") || named.includes(channel);
  }

  /** Of agents that share an app, only one hears somebody directly: the others keep silent. */
  private mayBeMeant(channel: string, user: string): boolean {
    if (!channel.startsWith("D") || !this.socket?.shared.isShared) return true;
    const { direct_messages } = this.settings;
    return direct_messages.includes("*") || direct_messages.includes(user);
  }

  private async incoming(channel: string, message: SlackMessage): Promise<IncomingMessage> {
    const name = await this.nameOf(message.user ?? "");
    const { thread_ts: thread, ts } = message;
    const repliesTo =
      thread && thread !== ts ? await this.programsPost(channel, thread) : undefined;
    return incomingMessage(message, { ...this.self, channel, name, repliesTo });
  }

  /** What a thread is about, when a program other than us began it. */
  private async programsPost(channel: string, thread: string): Promise<string | undefined> {
    const key = `${channel}/${thread}`;
    if (this.beginnings.has(key)) return this.beginnings.get(key);
    const room = { workspace: null, channel, thread, direct: false };
    const [first] = await this.said(room, { limit: 1 }).catch(() => []);
    const isProgram = first?.bot_id !== undefined && first.metadata?.event_type !== eventType;
    const post = isProgram
      ? JSON.stringify([first.text, first.attachments, first.blocks])
      : undefined;
    if (first) this.beginnings.set(key, post);
    return post;
  }

  private async nameOf(user: string): Promise<string> {
    const known = this.names.get(user);
    if (known !== undefined) return known;
    const found = await this.web.users.info({ user }).catch(() => undefined);
    const name = found?.user?.profile?.display_name || found?.user?.name || user;
    this.names.set(user, name);
    return name;
  }

  private ownChannels(): Promise<Room[]> {
    return this.ask(async () => {
      if (this.roomTypes.length === 0) return [];
      const types = this.roomTypes.join(",");
      const { channels = [] } = await this.web.users.conversations({ types, limit: 200 });
      return channels.flatMap(({ id }) =>
        id && this.concerns(id)
          ? [{ workspace: this.self.team, channel: id, thread: null, direct: id.startsWith("D") }]
          : [],
      );
    });
  }

  /** The oldest first. */
  private said(
    { channel, thread }: Room,
    range: { oldest?: string; latest?: string; limit: number },
  ): Promise<SlackMessage[]> {
    return this.ask(async () => {
      const wanted = { channel, ...range, include_all_metadata: true };
      if (thread !== null) {
        const { messages = [] } = await this.web.conversations.replies({ ...wanted, ts: thread });
        return messages as SlackMessage[];
      }
      const { messages = [] } = await this.web.conversations.history(wanted);
      return (messages as SlackMessage[]).reverse();
    });
  }

  private upload(
    room: Room,
    files: NonNullable<OutgoingPost["files"]>,
    nonce = "",
  ): Promise<string> {
    return this.ask(async () => {
      for (const { name: filename, content: file } of files) {
        const upload = { file, filename, title: `${filename} · ${tag(nonce)}` };
        const { channel: channel_id, thread: thread_ts } = room;
        await (thread_ts === null
          ? this.web.filesUploadV2({ ...upload, channel_id })
          : this.web.filesUploadV2({ ...upload, channel_id, thread_ts }));
      }
      return `file ${tag(nonce)}`;
    });
  }

  private async ask<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      throw slackError(error);
    }
  }
}

function placeOf({ channel, thread }: Room): { channel: string; thread_ts?: string } {
  return { channel, ...(thread !== null && { thread_ts: thread }) };
}

/** A file has no metadata: its title tells which it is. */
function tag(nonce: string): string {
  return nonce.slice(0, 8);
}
