import { z } from "zod";

const time = z.iso.datetime();

export const chatPlatformSchema = z.enum(["discord", "slack"]);
export type ChatPlatformName = z.infer<typeof chatPlatformSchema>;

/** A channel, thread or direct message on a platform. */
const chatRoomSchema = z.object({
  /** The server or workspace; null for direct messages on some platforms. */
  workspace: z.string().nullable(),
  channel: z.string(),
  thread: z.string().nullable(),
  direct: z.boolean(),
});
export type ChatRoom = z.infer<typeof chatRoomSchema>;

/** The messages in one room to one agent, with their session. */
export const conversationSchema = z.object({
  id: z.string(),
  /** Unique: agent, platform and room. */
  key: z.string(),
  agent: z.string(),
  platform: chatPlatformSchema,
  room: chatRoomSchema,
  session_id: z.string().nullable(),
  /** Number of resets. A job from before a reset does not restore its session. */
  generation: z.number().int().nonnegative(),
  created_at: time,
  last_used_at: time,
});
export type Conversation = z.infer<typeof conversationSchema>;

export type ConversationChange = Partial<
  Pick<Conversation, "session_id" | "generation" | "last_used_at">
>;

const attachmentSchema = z.object({
  name: z.string(),
  type: z.string(),
  bytes: z.number().int().nonnegative(),
  url: z.string(),
});
export type Attachment = z.infer<typeof attachmentSchema>;

const senderSchema = z.object({ id: z.string(), name: z.string() });

/** A message to an agent. It is recorded before herdctl acknowledges it to the platform. */
export const chatMessageSchema = z.object({
  id: z.string(),
  conversation_id: z.string(),
  agent: z.string(),
  platform: chatPlatformSchema,
  room: chatRoomSchema,
  /** The ID on the platform. */
  message_id: z.string(),
  sender: senderSchema,
  text: z.string(),
  attachments: z.array(attachmentSchema),
  /** The prompt includes earlier messages of the room. */
  wants_context: z.boolean(),
  /** The job of the post that this message replies to. */
  continues: z.string().nullable(),
  /** The question that this message answers. Such a message gets no answer itself. */
  answers: z.string().nullable().default(null),
  sent_at: time,
  received_at: time,
  status: z.enum(["waiting", "working", "answered", "dropped"]),
  job_id: z.string().nullable(),
  /** The generation of the conversation when the job was created. */
  generation: z.number().int().nonnegative(),
  /** How often the job was repeated in a new session because the old session was missing. */
  restarts: z.number().int().nonnegative(),
  answered_at: time.nullable(),
  note: z.string().nullable(),
});
export type ChatMessage = z.infer<typeof chatMessageSchema>;

export type NewChatMessage = Pick<
  ChatMessage,
  | "agent"
  | "platform"
  | "room"
  | "message_id"
  | "sender"
  | "text"
  | "attachments"
  | "wants_context"
  | "continues"
  | "answers"
  | "sent_at"
> & { conversation_key: string };

export type ChatMessageChange = Partial<
  Pick<ChatMessage, "status" | "job_id" | "generation" | "restarts" | "note">
>;

/** A post by herdctl: recorded before it is sent, and again after the platform confirms it. */
export const chatPostSchema = z.object({
  /** Stored by the platform with the post, so that herdctl can find the post again. */
  nonce: z.string(),
  /** The message that the post answers. */
  message: z.string(),
  /** The content of the post, such as `part 0` of an answer or an approval ID. */
  subject: z.string(),
  begun_at: time,
  posted_id: z.string().nullable(),
  posted_at: time.nullable(),
});
export type ChatPost = z.infer<typeof chatPostSchema>;
