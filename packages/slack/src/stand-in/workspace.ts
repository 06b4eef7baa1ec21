/** What a Slack workspace holds: people, channels and what was said. */
export interface WorkspaceMessage {
  channel: string;
  ts: string;
  thread_ts?: string;
  user: string;
  text: string;
  /** Its text before any change. */
  first: string;
  changes: string[];
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

export class Workspace {
  readonly team = "T0000HERD";
  readonly bot = { user: "U0000BOT", id: "B0000BOT" };
  readonly users = new Map<string, string>();
  readonly channels = new Map<string, { name: string; direct: string | null }>();
  readonly messages: WorkspaceMessage[] = [];
  /** What the app shows itself to be doing, by channel and thread. */
  readonly statuses: { channel: string; thread_ts: string; status: string }[] = [];
  readonly files = new Map<string, Buffer>();
  private count = 0;
  private last = 0;

  user(name: string): string {
    const known = [...this.users].find(([, one]) => one === name);
    if (known) return known[0];
    const id = this.id("U");
    this.users.set(id, name);
    return id;
  }

  channel(name: string): string {
    const known = [...this.channels].find(([, one]) => one.name === name && one.direct === null);
    if (known) return known[0];
    const id = this.id("C");
    this.channels.set(id, { name, direct: null });
    return id;
  }

  direct(user: string): string {
    const known = [...this.channels].find(([, one]) => one.direct === user);
    if (known) return known[0];
    const id = this.id("D");
    this.channels.set(id, { name: "directmessage", direct: user });
    return id;
  }

  say(given: Pick<WorkspaceMessage, "channel" | "user" | "text"> & Partial<WorkspaceMessage>) {
    const message: WorkspaceMessage = {
      ts: this.stamp(),
      first: given.text,
      changes: [],
      blocks: [],
      files: [],
      reactions: [],
      ...given,
    };
    this.messages.push(message);
    return message;
  }

  find(channel: string, ts: string): WorkspaceMessage | undefined {
    return this.messages.find((one) => one.channel === channel && one.ts === ts);
  }

  id(kind: string): string {
    this.count += 1;
    return `${kind}${String(this.count).padStart(8, "0")}`;
  }

  /** Seconds with six digits; no two are the same. */
  private stamp(): string {
    this.last = Math.max(Date.now() * 1000, this.last + 1);
    return `${Math.floor(this.last / 1_000_000)}.${String(this.last % 1_000_000).padStart(6, "0")}`;
  }
}
