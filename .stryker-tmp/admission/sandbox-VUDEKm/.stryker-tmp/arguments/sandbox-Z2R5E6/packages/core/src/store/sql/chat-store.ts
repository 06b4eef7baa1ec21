import type {
  ChatMessage,
  ChatMessageChange,
  ChatPlatformName,
  ChatPost,
  Conversation,
  ConversationChange,
  NewChatMessage,
} from "@herdctl/protocol";
import { chatMessageSchema, chatPostSchema, conversationSchema } from "@herdctl/protocol/schemas";
import type { ChatStore } from "../contracts/stores.ts";
import { newConversationId, newMessageId, postNonce } from "../model/ids.ts";
import { readRecord } from "./read-record.ts";
import type { SqlDatabase } from "./sql-database.ts";
import { execute, queryRow, queryRows, type SqlProgram, type SqlValue } from "./sql-program.ts";

export class SqlChatStore implements ChatStore {
  readonly #database: SqlDatabase;
  readonly #clock: () => Date;

  constructor(database: SqlDatabase, clock: () => Date) {
    this.#database = database;
    this.#clock = clock;
  }

  async getReceivedUntil(agent: string, platform: ChatPlatformName): Promise<Date> {
    return this.#database.transaction(() => this.#ensureReceivedUntil(agent, platform));
  }

  async setReceivedUntil(agent: string, platform: ChatPlatformName, until: Date): Promise<void> {
    await this.#database.transaction(() =>
      this.#writeReceivedUntil(agent, platform, until.toISOString()),
    );
  }

  async recordMessage(
    newMessage: NewChatMessage,
    status: ChatMessage["status"] = "waiting",
  ): Promise<{ message: ChatMessage; created: boolean }> {
    return this.#database.transaction(() => this.#insertUnlessKnown(newMessage, status));
  }

  async getConversation(id: string): Promise<Conversation | undefined> {
    const [found] = await this.#database.read(() => this.#selectConversations("WHERE id = ?", id));
    return found;
  }

  async findConversationByKey(key: string): Promise<Conversation | undefined> {
    const [found] = await this.#database.read(() =>
      this.#selectConversations("WHERE key = ?", key),
    );
    return found;
  }

  async getOrCreateConversation(
    key: string,
    details: Pick<Conversation, "agent" | "platform" | "room">,
  ): Promise<Conversation> {
    return this.#database.transaction(() =>
      this.#getOrInsertConversation(key, details, this.#clock()),
    );
  }

  async listConversations(): Promise<Conversation[]> {
    return this.#database.read(() => this.#selectConversations("ORDER BY last_used_at DESC"));
  }

  async updateConversation(id: string, change: ConversationChange): Promise<Conversation> {
    return this.#database.transaction(() => this.#updateConversationRecord(id, change));
  }

  async listOpenMessages(): Promise<ChatMessage[]> {
    const clause = "WHERE status IN ('waiting', 'working') ORDER BY sent_at, seq";
    return this.#database.read(() => this.#selectMessages(clause));
  }

  async findMessageByJob(jobId: string): Promise<ChatMessage | undefined> {
    const [found] = await this.#database.read(() =>
      this.#selectMessages("WHERE job_id = ?", jobId),
    );
    return found;
  }

  async updateMessage(id: string, change: ChatMessageChange): Promise<ChatMessage> {
    return this.#database.transaction(() => this.#updateMessageRecord(id, change));
  }

  async beginPost(message: string, subject: string): Promise<{ post: ChatPost; first: boolean }> {
    return this.#database.transaction(() => this.#beginPostInTransaction(message, subject));
  }

  async endPost(nonce: string, postedId: string): Promise<ChatPost> {
    return this.#database.transaction(() => this.#endPostInTransaction(nonce, postedId));
  }

  async listPosts(message: string): Promise<ChatPost[]> {
    return this.#database.read(() =>
      this.#selectPosts("WHERE message = ? ORDER BY rowid", message),
    );
  }

  async prune(before: Date, limit: number): Promise<number> {
    return this.#database.transaction(() => pruneChat(before.toISOString(), limit));
  }

  *#ensureReceivedUntil(agent: string, platform: ChatPlatformName): SqlProgram<Date> {
    const add = `INSERT INTO chat_links (agent, platform, received_until) VALUES (?, ?, ?)
                 ON CONFLICT DO NOTHING`;
    yield* execute(add, agent, platform, this.#clock().toISOString());
    const sql = "SELECT received_until FROM chat_links WHERE agent = ? AND platform = ?";
    return new Date(String((yield* queryRow(sql, agent, platform))?.received_until));
  }

  *#writeReceivedUntil(agent: string, platform: ChatPlatformName, until: string): SqlProgram<void> {
    const { greatest } = this.#database.dialect;
    const sql = `UPDATE chat_links SET received_until = ${greatest}(received_until, ?)
                 WHERE agent = ? AND platform = ?`;
    yield* execute(sql, until, agent, platform);
  }

  *#insertUnlessKnown(
    newMessage: NewChatMessage,
    status: ChatMessage["status"],
  ): SqlProgram<{ message: ChatMessage; created: boolean }> {
    const { agent, platform, message_id, sent_at } = newMessage;
    const where = "WHERE agent = ? AND platform = ? AND message_id = ?";
    const [existing] = yield* this.#selectMessages(where, agent, platform, message_id);
    if (existing) return { message: existing, created: false };
    yield* this.#writeReceivedUntil(agent, platform, sent_at);
    return { message: yield* this.#insertMessage(newMessage, status), created: true };
  }

  *#updateConversationRecord(id: string, change: ConversationChange): SqlProgram<Conversation> {
    const [conversation] = yield* this.#selectConversations("WHERE id = ?", id);
    if (!conversation) throw new Error(`there is no conversation ${id}`);
    const changed = conversationSchema.parse({ ...conversation, ...change });
    yield* execute("UPDATE conversations SET record = ? WHERE id = ?", JSON.stringify(changed), id);
    return changed;
  }

  *#updateMessageRecord(id: string, change: ChatMessageChange): SqlProgram<ChatMessage> {
    const [message] = yield* this.#selectMessages("WHERE id = ?", id);
    if (!message) throw new Error(`there is no message ${id}`);
    const isAnswered = change.status === "answered" && message.answered_at === null;
    const answered = isAnswered ? { answered_at: this.#clock().toISOString() } : {};
    const changed = chatMessageSchema.parse({ ...message, ...change, ...answered });
    yield* execute("UPDATE chat_messages SET record = ? WHERE id = ?", JSON.stringify(changed), id);
    return changed;
  }

  *#beginPostInTransaction(
    message: string,
    subject: string,
  ): SqlProgram<{ post: ChatPost; first: boolean }> {
    const nonce = postNonce(message, subject);
    const [existing] = yield* this.#selectPosts("WHERE nonce = ?", nonce);
    if (existing) return { post: existing, first: false };
    const begun_at = this.#clock().toISOString();
    const post = { nonce, message, subject, begun_at, posted_id: null, posted_at: null };
    const sql = "INSERT INTO chat_posts (nonce, message, record) VALUES (?, ?, ?)";
    yield* execute(sql, nonce, message, JSON.stringify(post));
    return { post, first: true };
  }

  *#endPostInTransaction(nonce: string, postedId: string): SqlProgram<ChatPost> {
    const [post] = yield* this.#selectPosts("WHERE nonce = ?", nonce);
    if (!post) throw new Error(`there is no post ${nonce}`);
    const posted_at = this.#clock().toISOString();
    const posted = chatPostSchema.parse({ ...post, posted_id: postedId, posted_at });
    yield* execute(
      "UPDATE chat_posts SET record = ? WHERE nonce = ?",
      JSON.stringify(posted),
      nonce,
    );
    return posted;
  }

  *#insertMessage(
    { conversation_key: key, ...newMessage }: NewChatMessage,
    status: ChatMessage["status"],
  ): SqlProgram<ChatMessage> {
    const now = this.#clock();
    const conversation = yield* this.#getOrInsertConversation(key, newMessage, now);
    const message = chatMessageSchema.parse({
      ...newMessage,
      id: newMessageId(now),
      conversation_id: conversation.id,
      received_at: now.toISOString(),
      status,
      job_id: null,
      generation: conversation.generation,
      restarts: 0,
      answered_at: null,
      note: null,
    });
    const sql = "INSERT INTO chat_messages (id, record) VALUES (?, ?)";
    yield* execute(sql, message.id, JSON.stringify(message));
    return message;
  }

  *#getOrInsertConversation(
    key: string,
    { agent, platform, room }: Pick<NewChatMessage, "agent" | "platform" | "room">,
    now: Date,
  ): SqlProgram<Conversation> {
    const [existing] = yield* this.#selectConversations("WHERE key = ?", key);
    if (existing) return existing;
    const time = now.toISOString();
    const conversation = conversationSchema.parse({
      id: newConversationId(),
      key,
      agent,
      platform,
      room,
      session_id: null,
      generation: 0,
      created_at: time,
      last_used_at: time,
    });
    const sql = "INSERT INTO conversations (id, record) VALUES (?, ?)";
    yield* execute(sql, conversation.id, JSON.stringify(conversation));
    return conversation;
  }

  *#selectConversations(clause: string, ...values: SqlValue[]): SqlProgram<Conversation[]> {
    const rows = yield* queryRows(`SELECT id, record FROM conversations ${clause}`, ...values);
    return rows.map((row) => readRecord(this.#database, conversationSchema, row));
  }

  *#selectMessages(clause: string, ...values: SqlValue[]): SqlProgram<ChatMessage[]> {
    const rows = yield* queryRows(`SELECT id, record FROM chat_messages ${clause}`, ...values);
    return rows.map((row) => readRecord(this.#database, chatMessageSchema, row));
  }

  *#selectPosts(clause: string, ...values: SqlValue[]): SqlProgram<ChatPost[]> {
    const rows = yield* queryRows(
      `SELECT nonce AS id, record FROM chat_posts ${clause}`,
      ...values,
    );
    return rows.map((row) => readRecord(this.#database, chatPostSchema, row));
  }
}

function* pruneChat(before: string, limit: number): SqlProgram<number> {
  const deletedCount = yield* execute(
    `DELETE FROM chat_messages WHERE seq IN (SELECT seq FROM chat_messages
       WHERE status IN ('answered', 'dropped') AND sent_at < ? ORDER BY seq LIMIT ?)`,
    before,
    limit,
  );
  yield* execute(
    `DELETE FROM conversations WHERE last_used_at < ? AND NOT EXISTS
       (SELECT 1 FROM chat_messages WHERE conversation_id = conversations.id)`,
    before,
  );
  return deletedCount;
}
