import { z } from "zod";

const time = z.iso.datetime();

export const platformSchema = z.enum(["discord", "slack"]);
export type Platform = z.infer<typeof platformSchema>;

/** Where in a platform something is said. */
const roomSchema = z.object({
  /** The server or workspace; none for direct messages on some platforms. */
  workspace: z.string().nullable(),
  channel: z.string(),
  thread: z.string().nullable(),
  direct: z.boolean(),
});
export type Room = z.infer<typeof roomSchema>;

/** All that is said in one room to one agent, and the session that remembers it. */
export const conversationSchema = z.object({
  id: z.string(),
  /** Agent, platform and room: no two conversations share one. */
  key: z.string(),
  agent: z.string(),
  platform: platformSchema,
  room: roomSchema,
  session_id: z.string().nullable(),
  /** How often it was begun anew: a job that began before does not bring its session back. */
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

/** A message that an agent is to answer. It is on record before the platform hears that we have it. */
export const chatMessageSchema = z.object({
  id: z.string(),
  conversation_id: z.string(),
  agent: z.string(),
  platform: platformSchema,
  room: roomSchema,
  /** The platform's own name for it. */
  message_id: z.string(),
  sender: senderSchema,
  text: z.string(),
  attachments: z.array(attachmentSchema),
  /** What stood before it is given along. */
  wants_context: z.boolean(),
  /** A job that a post tells of to which this is the reply. */
  continues: z.string().nullable(),
  /** The question of a job that it answers, in place of being answered itself. */
  answers: z.string().nullable().default(null),
  sent_at: time,
  received_at: time,
  status: z.enum(["waiting", "working", "answered", "dropped"]),
  job_id: z.string().nullable(),
  /** Of the conversation, when the job was begun. */
  generation: z.number().int().nonnegative(),
  /** How often it was begun in a fresh session because the old one was gone. */
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

/** Something of ours in a chat: on record before it is posted, and again when it stands there. */
export const chatPostSchema = z.object({
  /** The platform keeps it with the post, so that it can be found again. */
  nonce: z.string(),
  /** The message that it answers. */
  message: z.string(),
  /** What it is of the answer, such as `part 0` or the id of an approval. */
  subject: z.string(),
  begun_at: time,
  posted_id: z.string().nullable(),
  posted_at: time.nullable(),
});
export type ChatPost = z.infer<typeof chatPostSchema>;
