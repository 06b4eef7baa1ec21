import type { ChatPlatforms, Platform } from "@herdctl/core";

/** Something of ours in a room. */
export interface SeenPost {
  id: string;
  text: string;
  /** Every text it had, the first one included. */
  texts: string[];
  buttons: string[];
  /** What its menu offers. */
  options: string[];
  files: { name: string; content: string }[];
}

interface SaidOptions {
  attachments?: { name: string; type: string; content: string }[];
}

/** A platform as the suite sees it: people in rooms on one side, the agent's posts on the other. */
export interface ChatStandIn {
  platform: Platform;
  platforms: ChatPlatforms;
  env: Record<string, string>;
  /** The block of an agent's `chat`, with what is beside the lists. */
  settings: string;
  mention: string;
  small(text: string): string;
  /** Characters of one post. */
  longest: number;
  userId(name: string): string;
  channel(name: string): string;
  thread(name: string, channel: string): string;
  direct(user: string): string;
  /** Rooms below posts of a room, where a platform has such. */
  threadsOf(room: string): string[];
  say(room: string, user: string, text: string, options?: SaidOptions): string;
  /** A hook posts something, and somebody replies to that; gives the room of the reply. */
  replyToHook(room: string, post: string, user: string, text: string): string;
  /** The platform sends the same event once more. */
  repeat(messageId: string): void;
  posts(room: string): SeenPost[];
  marks(messageId: string): string[];
  /** How often it was shown there that somebody is at work. */
  signsOfWork(room: string): number;
  /** Somebody answers a post of ours with a message; gives its id. */
  reply(room: string, postId: string, user: string, text: string): string;
  press(room: string, postId: string, label: string, user: string): Promise<string>;
  choose(room: string, postId: string, labels: string[], user: string): Promise<string>;
  command(room: string, user: string, name: string, argument?: string): Promise<string>;
  /** Cuts the line over which events come. */
  drop(): void;
  /** How many such lines there are. */
  connections(): number;
  /** How often we asked for more than the platform takes. */
  refusals(): number;
  /** Lets the next such call be carried out but its answer be lost, and tells of it. */
  loseNextAnswer(call: "post" | "edit" | "file", then?: () => void): void;
  /** The platform takes no files from now on. */
  refuseFiles(): void;
  stop(): Promise<void>;
}
