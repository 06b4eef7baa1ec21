import type { Environment } from "../config/environment.ts";
import type { ResolvedAgent } from "../config/resolve.ts";
import type { Attachment, Platform, Room } from "../state/chat.ts";

export type ChatSettings = NonNullable<ResolvedAgent["chat"]>;

/**
 * One agent on one platform. A connector knows the platform and nothing else: who may speak, what
 * is answered and in which order is decided by those who hold it.
 */
export interface Connector {
  readonly limits: ConnectorLimits;
  /** Lets the platform's events in; resolves once they come, rejects when they cannot. */
  start(listener: ConnectorListener): Promise<void>;
  stop(): Promise<void>;
  /** Whether the platform takes this post whole. */
  fits(post: OutgoingPost): boolean;
  /** Gives the platform's name for what stands there now. */
  post(room: Room, post: OutgoingPost): Promise<string>;
  /** Puts something else in its place. */
  edit(room: Room, id: string, post: OutgoingPost): Promise<void>;
  /** What stands there of this post since then, if it was posted: by its nonce, where that is kept. */
  find(room: Room, post: OutgoingPost, since: Date): Promise<string | undefined>;
  /** Shows that a message is worked on, for some seconds; or that it no longer is. */
  typing(room: Room, messageId: string, isWorking: boolean): Promise<void>;
  /** Shows the sender of a message that it was seen. */
  mark(room: Room, messageId: string): Promise<void>;
  /** What was said before this message, by whomever, the oldest first; not what we said. */
  earlier(room: Room, messageId: string, count: number): Promise<EarlierMessage[]>;
  /** What was said since then wherever we can listen, and in rooms we were in; the oldest first. */
  missed(since: Date, known: readonly Room[]): Promise<IncomingMessage[]>;
  /** Fails when there are more bytes than this. */
  download(attachment: Attachment, most: number): Promise<Buffer>;
  presence(isWorking: boolean): Promise<void>;
  /** As a remark beside the answer. */
  small(text: string): string;
}

interface ConnectorLimits {
  /** Characters of one post. */
  text: number;
  /** Bytes of a file. */
  file: number;
  /** Milliseconds between two edits of a post. */
  editGap: number;
}

/** Each call resolves when it is durable: only then may the platform hear that we have it. */
export interface ConnectorListener {
  message(message: IncomingMessage): Promise<void>;
  command(command: IncomingCommand): Promise<void>;
  press(press: ButtonPress): Promise<void>;
  /** Why nothing comes or goes; undefined when all is well again. */
  problem(message: string | undefined): void;
  /** The line was down: something may have been said that did not come. */
  reconnected(): void;
}

export interface Speaker {
  id: string;
  name: string;
  roles: string[];
  isBot: boolean;
}

export interface IncomingMessage {
  id: string;
  room: Room;
  sender: Speaker;
  /** Without the mention of ourselves. */
  text: string;
  mentionsUs: boolean;
  attachments: Attachment[];
  sentAt: Date;
  /** All that stands in a program's post which this replies to; ours do not count. */
  repliesTo?: string;
  /** The platform's name for the post which this replies to, whosever it is. */
  repliesToPost?: string;
}

export interface IncomingCommand {
  /** The same for the same command, however often it comes. */
  id: string;
  name: string;
  argument: string;
  room: Room;
  sender: Speaker;
  respond(text: string): Promise<void>;
}

export interface ButtonPress {
  /** What the button or menu was given. */
  value: string;
  /** Of a menu: which of its options, by their place. */
  chosen?: number[];
  room: Room;
  sender: Speaker;
  /** Seen by whoever pressed. */
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
  /** Kept by the platform, so that the same is never posted twice. */
  nonce?: string;
  replyTo?: string;
  buttons?: { label: string; value: string; style: "yes" | "no" }[];
  menu?: ChoiceMenu;
  files?: { name: string; content: Buffer }[];
}

/** A list to choose from, where buttons would be too many. */
export interface ChoiceMenu {
  value: string;
  options: { label: string; description: string | null }[];
  /** Whether more than one may be chosen. */
  several: boolean;
}

/** What could not be done in a chat. Some of it passes by itself, some only when a person acts. */
export class ChatError extends Error {
  override readonly name = "ChatError";

  constructor(
    message: string,
    readonly hint: string,
    readonly mayPass: boolean,
    options: { cause?: unknown } = {},
  ) {
    super(message, options);
  }
}

/** One thing that was looked at, without anything being sent. */
export interface ChatCheck {
  name: string;
  verdict: "ok" | "warning" | "failed";
  message: string;
  hint?: string;
}

export interface ChatPlatform {
  open(link: ChatLinkOptions): Connector;
  examine(link: ChatLinkOptions): Promise<ChatCheck[]>;
}

export interface ChatLinkOptions {
  agent: string;
  settings: ChatSettings;
  environment: Environment;
}

/** Loaded only when an agent is there. */
export type ChatPlatforms = Partial<Record<Platform, () => Promise<ChatPlatform>>>;
