/** The state of a Discord with one server: users, channels and messages. */
export interface UserState {
  id: string;
  username: string;
  bot: boolean;
  roles: string[];
}

export interface ChannelState {
  id: string;
  /** 0 for text, 1 for direct messages, 11 for threads. */
  type: 0 | 1 | 11;
  name: string;
  parent: string | null;
  /** The user of a direct message channel. */
  recipient: string | null;
}

export interface MessageState {
  id: string;
  channel: string;
  author: string;
  content: string;
  nonce: string | null;
  mentions: string[];
  attachments: { id: string; filename: string; size: number; url: string; content_type: string }[];
  components: unknown[];
  reference: string | null;
  reactions: string[];
  timestamp: string;
  /** The text before any edits. */
  originalContent: string;
  edits: { content: string; at: number }[];
}

const discordEpoch = 1_420_070_400_000n;

export class DiscordState {
  readonly guild = { id: "900000000000000001", name: "The server" };
  readonly bot: UserState = {
    id: "800000000000000001",
    username: "herd",
    bot: true,
    roles: [],
  };
  readonly application = "810000000000000001";
  readonly users = new Map<string, UserState>([[this.bot.id, this.bot]]);
  readonly channels = new Map<string, ChannelState>();
  readonly messages: MessageState[] = [];
  readonly roles = new Set<string>();
  readonly files = new Map<string, Buffer>();
  private snowflakeCounter = 0n;

  snowflake(): string {
    this.snowflakeCounter += 1n;
    return String(((BigInt(Date.now()) - discordEpoch) << 22n) | (this.snowflakeCounter % 4096n));
  }

  user(name: string, roles: string[] = []): UserState {
    for (const role of roles) this.roles.add(role);
    const existing = [...this.users.values()].find(({ username }) => username === name);
    if (existing) return Object.assign(existing, roles.length > 0 ? { roles } : {});
    const user = { id: this.snowflake(), username: name, bot: false, roles };
    this.users.set(user.id, user);
    return user;
  }

  channel(name: string): ChannelState {
    return this.addChannel({ name, type: 0, parent: null, recipient: null });
  }

  thread(name: string, parent: string): ChannelState {
    return this.addChannel({ name, type: 11, parent, recipient: null });
  }

  /** The direct message channel with a user. */
  direct(userId: string): ChannelState {
    const existing = [...this.channels.values()].find(({ recipient }) => recipient === userId);
    return existing ?? this.addChannel({ name: "", type: 1, parent: null, recipient: userId });
  }

  addMessage(fields: Pick<MessageState, "channel" | "author" | "content"> & Partial<MessageState>) {
    const message: MessageState = {
      id: this.snowflake(),
      nonce: null,
      mentions: [...fields.content.matchAll(/<@!?(\d+)>/g)].map(([, id]) => id ?? ""),
      attachments: [],
      components: [],
      reference: null,
      reactions: [],
      timestamp: new Date().toISOString(),
      originalContent: fields.content,
      edits: [],
      ...fields,
    };
    this.messages.push(message);
    return message;
  }

  messagesIn(channel: string): MessageState[] {
    return this.messages.filter((message) => message.channel === channel);
  }

  private addChannel(fields: Omit<ChannelState, "id">): ChannelState {
    const existing = [...this.channels.values()].find(
      ({ name, parent, type }) => name === fields.name && parent === fields.parent && type !== 1,
    );
    if (existing && fields.type !== 1) return existing;
    const channel = { id: this.snowflake(), ...fields };
    this.channels.set(channel.id, channel);
    return channel;
  }
}
