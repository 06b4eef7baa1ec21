import type { ChatPlatforms } from "@herdctl/core/internal";
import type { ChatPlatformName } from "@herdctl/protocol";

/** A post of the agent in a room. */
export interface ObservedPost {
  id: string;
  text: string;
  /** Every version of the text, including the first. */
  texts: string[];
  buttons: string[];
  /** The options of its menu. */
  options: string[];
  files: { name: string; content: string }[];
}

interface SayOptions {
  attachments?: { name: string; type: string; content: string }[];
}

/** A platform as the suite sees it: people in rooms on one side, the agent's posts on the other. */
export interface ChatStandIn {
  platform: ChatPlatformName;
  platforms: ChatPlatforms;
  env: Record<string, string>;
  /** The agent's `chat` block without the lists of users and channels. */
  settings: string;
  mention: string;
  smallPrint(text: string): string;
  /** Maximum number of characters in one post. */
  maxPostLength: number;
  userId(name: string): string;
  channel(name: string): string;
  thread(name: string, channel: string): string;
  direct(user: string): string;
  /** Threads below posts of a room, on platforms that have them. */
  threadsOf(room: string): string[];
  say(room: string, user: string, text: string, options?: SayOptions): string;
  /** Posts as a hook and replies to that post as a user; returns the room of the reply. */
  replyToHook(room: string, post: string, user: string, text: string): string;
  /** Sends the same event once more. */
  repeat(messageId: string): void;
  posts(room: string): ObservedPost[];
  marks(messageId: string): string[];
  /** How often the typing indicator was shown in the room. */
  signsOfWork(room: string): number;
  /** Replies to a post of the agent as a user; returns the message id. */
  reply(room: string, postId: string, user: string, text: string): string;
  press(room: string, postId: string, label: string, user: string): Promise<string>;
  choose(room: string, postId: string, labels: string[], user: string): Promise<string>;
  command(room: string, user: string, name: string, argument?: string): Promise<string>;
  /** Closes the event connection. */
  drop(): void;
  /** Number of open event connections. */
  connections(): number;
  /** Number of requests that the rate limit refused. */
  refusals(): number;
  /** Carries out the next such call but loses its response; calls `then` at that moment. */
  loseNextAnswer(call: "post" | "edit" | "file", then?: () => void): void;
  /** From now on the platform refuses uploads. */
  refuseFiles(): void;
  stop(): Promise<void>;
}
