import {
  ChatError,
  type Connector,
  type ConnectorListener,
  type ConnectorOptions,
  type EarlierMessage,
  type IncomingMessage,
  type OutgoingPost,
} from "@herdctl/core";
import type { Attachment, ChatRoom } from "@herdctl/protocol";
import { WebClient } from "@slack/web-api";
import { handleEnvelope } from "./envelopes.ts";
import { fetchAttachment } from "./fetch-attachment.ts";
import {
  isUserMessage,
  type SlackMessage,
  timestampOf,
  toDate,
  toIncomingMessage,
  toTimestamp,
} from "./incoming-message.ts";
import { maxSectionLength, toMessageBody } from "./message-body.ts";
import { fromMrkdwn } from "./mrkdwn.ts";
import { listableRoomTypes } from "./scopes.ts";
import { readSettings, type SlackSettings } from "./settings.ts";
import { type Envelope, SharedSocket, type SocketListener } from "./shared-socket.ts";
import { silentLogger } from "./silent-logger.ts";
import { toChatError } from "./slack-error.ts";

/** Searches for posts start this much earlier, because clocks may differ. */
const clockSkewMs = 60_000;
const eventType = "herdctl_post";
/** Slack shows the app's name before this text. */
const workingStatus = "is working on it…";

/** Connects one agent to Slack as an app. The library handles reconnects and rate limits. */
export class SlackConnector implements Connector {
  readonly limits = { maxTextLength: 3_800, maxFileBytes: 20_000_000, minEditIntervalMs: 1_500 };
  private readonly settings: SlackSettings;
  private readonly web: WebClient;
  private readonly statusClient: WebClient;
  private readonly userNames = new Map<string, string>();
  private readonly threadStartPosts = new Map<string, string | undefined>();
  private socket: { shared: SharedSocket; listener: SocketListener } | undefined;
  private isStopped = false;
  private identity = { team: "", botUserId: "" };
  private roomTypes: string[] = [];
  private canSetStatus = true;

  constructor(connectorOptions: ConnectorOptions) {
    this.settings = readSettings(connectorOptions);
    const options = {
      slackApiUrl: this.settings.base_url,
      logger: silentLogger,
      // Automatic retries could post twice. Callers check for an existing post before they retry.
      retryConfig: { retries: 0 },
    };
    this.web = new WebClient(this.settings.token, options);
    // A separate client for status updates: waiting for their rate limit would delay all other calls.
    this.statusClient = new WebClient(this.settings.token, {
      ...options,
      rejectRateLimitedCalls: true,
    });
  }

  async start(listener: ConnectorListener): Promise<void> {
    await this.callSlack(async () => {
      const auth = await this.web.auth.test();
      this.identity = { botUserId: auth.user_id ?? "", team: auth.team_id ?? "" };
      this.roomTypes = listableRoomTypes(auth.response_metadata?.scopes ?? []);
      const shared = SharedSocket.getOrCreate(this.settings.appToken, this.settings.base_url);
      const socketListener: SocketListener = {
        onEnvelope: (envelope) => this.onEnvelope(envelope, listener),
        down: () => listener.onProblem("Reconnecting to Slack."),
        connected: () => {
          listener.onProblem(undefined);
          listener.onReconnected();
        },
      };
      this.socket = { shared, listener: socketListener };
      await shared.join(socketListener);
    });
    // If stopped while connecting, leave the socket again.
    if (this.isStopped) await this.stop();
  }

  async stop(): Promise<void> {
    this.isStopped = true;
    await this.socket?.shared.leave(this.socket.listener);
  }

  /** Slack counts escaped characters, so the converted text is measured. */
  fits(post: OutgoingPost): boolean {
    const { text, blocks } = toMessageBody(post);
    return text.length <= (blocks.length > 0 ? maxSectionLength : this.limits.maxTextLength);
  }

  post(room: ChatRoom, post: OutgoingPost): Promise<string> {
    const { nonce, files = [] } = post;
    if (files.length > 0) return this.upload(room, files, nonce);
    return this.callSlack(async () => {
      const { ts = "" } = await this.web.chat.postMessage({
        ...toSlackTarget(room),
        ...toMessageBody(post),
        metadata: { event_type: eventType, event_payload: { nonce: nonce ?? "" } },
        unfurl_links: false,
        unfurl_media: false,
      });
      return ts;
    });
  }

  async edit(room: ChatRoom, ts: string, post: OutgoingPost): Promise<void> {
    await this.callSlack(() =>
      this.web.chat.update({ channel: room.channel, ts, ...toMessageBody(post) }),
    );
  }

  async findPost(
    room: ChatRoom,
    { nonce = "" }: OutgoingPost,
    since: Date,
  ): Promise<string | undefined> {
    const oldest = toTimestamp(new Date(since.getTime() - clockSkewMs));
    const messages = await this.readMessages(room, { oldest, limit: 200 });
    const hasTaggedFile = ({ files = [] }: SlackMessage) =>
      files.some((file) => file.title?.includes(nonceTag(nonce)));
    return messages.find(
      (message) => message.metadata?.event_payload?.nonce === nonce || hasTaggedFile(message),
    )?.ts;
  }

  /** Shows “herd is working on it…” below the message. Some workspaces do not allow it. */
  async setTyping(
    { channel, thread }: ChatRoom,
    messageId: string,
    isWorking: boolean,
  ): Promise<void> {
    if (!this.canSetStatus) return;
    const thread_ts = thread ?? timestampOf(messageId);
    const status = isWorking ? workingStatus : "";
    try {
      const params = { channel_id: channel, thread_ts, status };
      await this.callSlack(() => this.statusClient.assistant.threads.setStatus(params));
    } catch (error) {
      if (error instanceof ChatError && !error.isTransient) this.canSetStatus = false;
    }
  }

  async markSeen(room: ChatRoom, messageId: string): Promise<void> {
    const timestamp = timestampOf(messageId);
    const { channel } = room;
    await this.callSlack(() => this.web.reactions.add({ channel, timestamp, name: "eyes" }));
  }

  async readEarlier(room: ChatRoom, messageId: string, count: number): Promise<EarlierMessage[]> {
    const latest = timestampOf(messageId);
    const messages = await this.readMessages(room, { latest, limit: count });
    const userMessages = messages.filter(
      (message) => isUserMessage(message) && message.user !== this.identity.botUserId,
    );
    return Promise.all(
      userMessages.slice(-count).map(async ({ ts, user = "", bot_id, text = "" }) => ({
        id: ts,
        sender: { id: user, name: await this.nameOf(user), roles: [], isBot: bot_id !== undefined },
        text: fromMrkdwn(text),
        sentAt: toDate(ts),
      })),
    );
  }

  async readMissed(since: Date, knownRooms: readonly ChatRoom[]): Promise<IncomingMessage[]> {
    const oldest = toTimestamp(since);
    const rooms = [
      ...(await this.listOwnChannels()),
      ...knownRooms.filter(({ thread }) => thread !== null),
    ];
    const incoming: IncomingMessage[] = [];
    for (const room of rooms) {
      const messages = await this.readMessages(room, { oldest, limit: 200 }).catch(() => []);
      for (const message of messages.filter(isUserMessage))
        incoming.push(await this.toIncoming(room.channel, message));
    }
    return incoming.sort((a, b) => a.sentAt.getTime() - b.sentAt.getTime());
  }

  download({ url }: Attachment, maxBytes: number): Promise<Buffer> {
    return fetchAttachment(url, this.settings, maxBytes);
  }

  /** Slack always shows apps as present. */
  async setPresence(): Promise<void> {}

  formatRemark(text: string): string {
    return `_${text}_`;
  }

  private onEnvelope(envelope: Envelope, listener: ConnectorListener): Promise<void> {
    const { team } = this.identity;
    return handleEnvelope(envelope, {
      team,
      isRelevant: (channel, user) =>
        this.isRelevant(channel) && this.isAllowedDirectMessage(channel, user),
      toIncoming: (channel, message) => this.toIncoming(channel, message),
      listener,
    });
  }

  /** Agents that share an app are assigned to different channels. */
  private isRelevant(channel: string): boolean {
    const ownChannels = Object.keys(this.settings.channels);
    return ownChannels.length === 0 || channel.startsWith("D") || ownChannels.includes(channel);
  }

  /** If agents share an app, only the agent that lists the user answers direct messages. */
  private isAllowedDirectMessage(channel: string, user: string): boolean {
    if (!channel.startsWith("D") || !this.socket?.shared.isShared) return true;
    const { direct_message_users } = this.settings;
    return direct_message_users.includes("*") || direct_message_users.includes(user);
  }

  private async toIncoming(channel: string, message: SlackMessage): Promise<IncomingMessage> {
    const name = await this.nameOf(message.user ?? "");
    const { thread_ts: thread, ts } = message;
    const repliesTo =
      thread && thread !== ts ? await this.findThreadStartPost(channel, thread) : undefined;
    return toIncomingMessage(message, { ...this.identity, channel, name, repliesTo });
  }

  /** The first post of a thread, if another bot wrote it. */
  private async findThreadStartPost(channel: string, thread: string): Promise<string | undefined> {
    const key = `${channel}/${thread}`;
    if (this.threadStartPosts.has(key)) return this.threadStartPosts.get(key);
    const room = { workspace: null, channel, thread, direct: false };
    const [firstMessage] = await this.readMessages(room, { limit: 1 }).catch(() => []);
    const isBotPost =
      firstMessage?.bot_id !== undefined && firstMessage.metadata?.event_type !== eventType;
    const post = isBotPost
      ? JSON.stringify([firstMessage.text, firstMessage.attachments, firstMessage.blocks])
      : undefined;
    if (firstMessage) this.threadStartPosts.set(key, post);
    return post;
  }

  private async nameOf(user: string): Promise<string> {
    const cachedName = this.userNames.get(user);
    if (cachedName !== undefined) return cachedName;
    const info = await this.web.users.info({ user }).catch(() => undefined);
    const name = info?.user?.profile?.display_name || info?.user?.name || user;
    this.userNames.set(user, name);
    return name;
  }

  private listOwnChannels(): Promise<ChatRoom[]> {
    return this.callSlack(async () => {
      if (this.roomTypes.length === 0) return [];
      const types = this.roomTypes.join(",");
      const { channels = [] } = await this.web.users.conversations({ types, limit: 200 });
      return channels.flatMap(({ id }) =>
        id && this.isRelevant(id)
          ? [
              {
                workspace: this.identity.team,
                channel: id,
                thread: null,
                direct: id.startsWith("D"),
              },
            ]
          : [],
      );
    });
  }

  /** Oldest first. */
  private readMessages(
    { channel, thread }: ChatRoom,
    range: { oldest?: string; latest?: string; limit: number },
  ): Promise<SlackMessage[]> {
    return this.callSlack(async () => {
      const params = { channel, ...range, include_all_metadata: true };
      if (thread !== null) {
        const { messages = [] } = await this.web.conversations.replies({ ...params, ts: thread });
        return messages as SlackMessage[];
      }
      const { messages = [] } = await this.web.conversations.history(params);
      return (messages as SlackMessage[]).reverse();
    });
  }

  private upload(
    room: ChatRoom,
    files: NonNullable<OutgoingPost["files"]>,
    nonce = "",
  ): Promise<string> {
    return this.callSlack(async () => {
      for (const { name: filename, content: file } of files) {
        const upload = { file, filename, title: `${filename} · ${nonceTag(nonce)}` };
        const { channel: channel_id, thread: thread_ts } = room;
        await (thread_ts === null
          ? this.web.filesUploadV2({ ...upload, channel_id })
          : this.web.filesUploadV2({ ...upload, channel_id, thread_ts }));
      }
      return `file ${nonceTag(nonce)}`;
    });
  }

  private async callSlack<T>(call: () => Promise<T>): Promise<T> {
    try {
      return await call();
    } catch (error) {
      throw toChatError(error);
    }
  }
}

function toSlackTarget({ channel, thread }: ChatRoom): { channel: string; thread_ts?: string } {
  return { channel, ...(thread !== null && { thread_ts: thread }) };
}

/** Files have no metadata, so their title contains part of the nonce. */
function nonceTag(nonce: string): string {
  return nonce.slice(0, 8);
}
