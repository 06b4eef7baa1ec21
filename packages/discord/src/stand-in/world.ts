/** What a Discord of one server holds: people, channels and what was said. */
export interface WorldUser {
  id: string;
  username: string;
  bot: boolean;
  roles: string[];
}

export interface WorldChannel {
  id: string;
  /** 0 text, 1 direct, 11 thread. */
  type: 0 | 1 | 11;
  name: string;
  parent: string | null;
  /** Who a direct channel is with. */
  recipient: string | null;
}

export interface WorldMessage {
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
  /** Its text before any edit. */
  first: string;
  edits: { content: string; at: number }[];
}

const discordEpoch = 1_420_070_400_000n;

export class World {
  readonly guild = { id: "900000000000000001", name: "The server" };
  readonly bot: WorldUser = {
    id: "800000000000000001",
    username: "herd",
    bot: true,
    roles: [],
  };
  readonly application = "810000000000000001";
  readonly users = new Map<string, WorldUser>([[this.bot.id, this.bot]]);
  readonly channels = new Map<string, WorldChannel>();
  readonly messages: WorldMessage[] = [];
  readonly roles = new Set<string>();
  readonly files = new Map<string, Buffer>();
  private count = 0n;

  snowflake(): string {
    this.count += 1n;
    return String(((BigInt(Date.now()) - discordEpoch) << 22n) | (this.count % 4096n));
  }

  user(name: string, roles: string[] = []): WorldUser {
    for (const role of roles) this.roles.add(role);
    const known = [...this.users.values()].find(({ username }) => username === name);
    if (known) return Object.assign(known, roles.length > 0 ? { roles } : {});
    const user = { id: this.snowflake(), username: name, bot: false, roles };
    this.users.set(user.id, user);
    return user;
  }

  channel(name: string): WorldChannel {
    return this.add({ name, type: 0, parent: null, recipient: null });
  }

  thread(name: string, parent: string): WorldChannel {
    return this.add({ name, type: 11, parent, recipient: null });
  }

  /** The one direct channel with somebody. */
  direct(userId: string): WorldChannel {
    const known = [...this.channels.values()].find(({ recipient }) => recipient === userId);
    return known ?? this.add({ name: "", type: 1, parent: null, recipient: userId });
  }

  say(given: Pick<WorldMessage, "channel" | "author" | "content"> & Partial<WorldMessage>) {
    const message: WorldMessage = {
      id: this.snowflake(),
      nonce: null,
      mentions: [...given.content.matchAll(/<@!?(\d+)>/g)].map(([, id]) => id ?? ""),
      attachments: [],
      components: [],
      reference: null,
      reactions: [],
      timestamp: new Date().toISOString(),
      first: given.content,
      edits: [],
      ...given,
    };
    this.messages.push(message);
    return message;
  }

  in(channel: string): WorldMessage[] {
    return this.messages.filter((message) => message.channel === channel);
  }

  private add(given: Omit<WorldChannel, "id">): WorldChannel {
    const known = [...this.channels.values()].find(
      ({ name, parent, type }) => name === given.name && parent === given.parent && type !== 1,
    );
    if (known && given.type !== 1) return known;
    const channel = { id: this.snowflake(), ...given };
    this.channels.set(channel.id, channel);
    return channel;
  }
}
