/** The state of a Slack workspace: users, channels and messages. */
export interface MessageState {
  channel: string;
  ts: string;
  thread_ts?: string;
  user: string;
  text: string;
  /** The text before any edits. */
  originalText: string;
  edits: string[];
  bot_id?: string;
  blocks: Block[];
  metadata?: { event_type: string; event_payload: Record<string, unknown> };
  files: StoredFile[];
  reactions: string[];
}

export interface Block {
  type: string;
  block_id?: string;
  elements?: BlockElement[];
  accessory?: BlockElement;
}

interface BlockElement {
  type: string;
  action_id: string;
  value?: string;
  text?: { text: string };
  options?: { value: string; text: { text: string } }[];
}

interface StoredFile {
  id: string;
  name: string;
  title: string;
  mimetype: string;
  size: number;
  url_private_download: string;
}

export class WorkspaceState {
  readonly team = "T0000HERD";
  readonly bot = { user: "U0000BOT", id: "B0000BOT" };
  readonly users = new Map<string, string>();
  readonly channels = new Map<string, { name: string; direct: string | null }>();
  readonly messages: MessageState[] = [];
  /** The status texts that the app has set, by channel and thread. */
  readonly statuses: { channel: string; thread_ts: string; status: string }[] = [];
  readonly files = new Map<string, Buffer>();
  private idCounter = 0;
  private lastTimestampMicros = 0;

  user(name: string): string {
    const existing = [...this.users].find(([, userName]) => userName === name);
    if (existing) return existing[0];
    const id = this.id("U");
    this.users.set(id, name);
    return id;
  }

  channel(name: string): string {
    const existing = [...this.channels].find(
      ([, channel]) => channel.name === name && channel.direct === null,
    );
    if (existing) return existing[0];
    const id = this.id("C");
    this.channels.set(id, { name, direct: null });
    return id;
  }

  direct(user: string): string {
    const existing = [...this.channels].find(([, channel]) => channel.direct === user);
    if (existing) return existing[0];
    const id = this.id("D");
    this.channels.set(id, { name: "directmessage", direct: user });
    return id;
  }

  addMessage(fields: Pick<MessageState, "channel" | "user" | "text"> & Partial<MessageState>) {
    const message: MessageState = {
      ts: this.nextTimestamp(),
      originalText: fields.text,
      edits: [],
      blocks: [],
      files: [],
      reactions: [],
      ...fields,
    };
    this.messages.push(message);
    return message;
  }

  find(channel: string, ts: string): MessageState | undefined {
    return this.messages.find((message) => message.channel === channel && message.ts === ts);
  }

  id(kind: string): string {
    this.idCounter += 1;
    return `${kind}${String(this.idCounter).padStart(8, "0")}`;
  }

  /** Seconds with six decimals, unique in the workspace. */
  private nextTimestamp(): string {
    this.lastTimestampMicros = Math.max(Date.now() * 1000, this.lastTimestampMicros + 1);
    return `${Math.floor(this.lastTimestampMicros / 1_000_000)}.${String(this.lastTimestampMicros % 1_000_000).padStart(6, "0")}`;
  }
}
