import type { Environment, ResolvedAgent } from "@herdctl/config";
import type { Attachment, ChatPlatformName, ChatRoom } from "@herdctl/protocol";

export type ChatSettings = NonNullable<ResolvedAgent["chat"]>;

/**
 * One agent on one platform. A connector knows only the platform. Its callers decide who may talk
 * to the agent, what is answered and in which order.
 */
export interface Connector {
  readonly limits: ConnectorLimits;
  /** Starts receiving events. Resolves when they arrive, rejects if that is impossible. */
  start(listener: ConnectorListener): Promise<void>;
  stop(): Promise<void>;
  /** Whether the platform accepts the whole post. */
  fits(post: OutgoingPost): boolean;
  /** Resolves with the platform's id of the new post. */
  post(room: ChatRoom, post: OutgoingPost): Promise<string>;
  /** Replaces the content of a post. */
  edit(room: ChatRoom, id: string, post: OutgoingPost): Promise<void>;
  /** Finds this post if it was made since then, by its nonce where the platform keeps it. */
  findPost(room: ChatRoom, post: OutgoingPost, since: Date): Promise<string | undefined>;
  /** Shows for some seconds that a message is being worked on, or that it no longer is. */
  setTyping(room: ChatRoom, messageId: string, isWorking: boolean): Promise<void>;
  /** Shows the sender that a message was received. */
  markSeen(room: ChatRoom, messageId: string): Promise<void>;
  /** Messages before this one, of all senders but the agent, oldest first. */
  readEarlier(room: ChatRoom, messageId: string, count: number): Promise<EarlierMessage[]>;
  /** Messages since then wherever the agent can listen, and in known rooms, oldest first. */
  readMissed(since: Date, known: readonly ChatRoom[]): Promise<IncomingMessage[]>;
  /** Fails if the file has more bytes than `maxBytes`. */
  download(attachment: Attachment, maxBytes: number): Promise<Buffer>;
  setPresence(isWorking: boolean): Promise<void>;
  /** Formats a remark below an answer. */
  formatRemark(text: string): string;
}

interface ConnectorLimits {
  /** Characters of one post. */
  maxTextLength: number;
  /** Bytes of a file. */
  maxFileBytes: number;
  /** Milliseconds between two edits of a post. */
  minEditIntervalMs: number;
}

/** Each call resolves when its event is durable. Only then may the platform get a confirmation. */
export interface ConnectorListener {
  onMessage(message: IncomingMessage): Promise<void>;
  onCommand(command: IncomingCommand): Promise<void>;
  onButtonPress(press: ButtonPress): Promise<void>;
  /** Why no messages can be received or sent; undefined if they can. */
  onProblem(message: string | undefined): void;
  /** The connection was interrupted, so messages may have been missed. */
  onReconnected(): void;
}

export interface Speaker {
  id: string;
  name: string;
  roles: string[];
  isBot: boolean;
}

export interface IncomingMessage {
  id: string;
  room: ChatRoom;
  sender: Speaker;
  /** Without the mention of the agent. */
  text: string;
  mentionsAgent: boolean;
  attachments: Attachment[];
  sentAt: Date;
  /** Text of the post that this message replies to, if a program other than the agent wrote it. */
  repliedText?: string;
  /** The platform's id of the post that this message replies to, from any author. */
  repliedPostId?: string;
}

export interface IncomingCommand {
  /** The same for every delivery of the same command. */
  id: string;
  name: string;
  argument: string;
  room: ChatRoom;
  sender: Speaker;
  respond(text: string): Promise<void>;
}

export interface ButtonPress {
  /** The value of the button or menu. */
  value: string;
  /** For a menu: the indexes of the chosen options. */
  chosenIndexes?: number[];
  room: ChatRoom;
  sender: Speaker;
  /** Shown to the person who pressed. */
  respond(text: string): Promise<void>;
}

export interface EarlierMessage {
  id: string;
  sender: Speaker;
  text: string;
  sentAt: Date;
}

export interface OutgoingPost {
  text: string;
  /** Kept by the platform, so that a post is never made twice. */
  nonce?: string;
  replyToId?: string;
  buttons?: { label: string; value: string; style: "yes" | "no" }[];
  menu?: ChoiceMenu;
  files?: { name: string; content: Buffer }[];
}

/** A list to choose from, if there are too many choices for buttons. */
export interface ChoiceMenu {
  value: string;
  options: { label: string; description: string | null }[];
  /** Whether more than one may be chosen. */
  allowsMultiple: boolean;
}

/** A chat action that failed. Transient errors pass without a person; others do not. */
export class ChatError extends Error {
  override readonly name = "ChatError";

  constructor(
    message: string,
    readonly hint: string,
    readonly isTransient: boolean,
    options: { cause?: unknown } = {},
  ) {
    super(message, options);
  }
}

/** The result of one check that sends nothing. */
export interface ChatCheck {
  name: string;
  verdict: "ok" | "warning" | "failed";
  message: string;
  hint?: string;
}

export interface ChatPlatform {
  createConnector(options: ConnectorOptions): Connector;
  check(options: ConnectorOptions): Promise<ChatCheck[]>;
}

export interface ConnectorOptions {
  agent: string;
  settings: ChatSettings;
  environment: Environment;
}

/** Loaded only if an agent uses the platform. */
export type ChatPlatforms = Partial<Record<ChatPlatformName, () => Promise<ChatPlatform>>>;
