import {
  type ChatMessage,
  type ChatMessageChange,
  type ChatPost,
  type Conversation,
  type ConversationChange,
  chatMessageSchema,
  chatPostSchema,
  conversationSchema,
  type NewChatMessage,
  type Platform,
} from "../chat.ts";
import type { ChatStore } from "../contract.ts";
import { newConversationId, newMessageId, nonceOf } from "../names.ts";
import { readRecord } from "./record.ts";
import type { SqlDatabase } from "./sql-database.ts";
import { all, one, run, type Steps, type Value } from "./steps.ts";

export class SqlChatStore implements ChatStore {
  readonly #database: SqlDatabase;
  readonly #clock: () => Date;

  constructor(database: SqlDatabase, clock: () => Date) {
    this.#database = database;
    this.#clock = clock;
  }

  async heardUntil(agent: string, platform: Platform): Promise<Date> {
    return this.#database.transaction(() => this.#heardUntil(agent, platform));
  }

  async heard(agent: string, platform: Platform, until: Date): Promise<void> {
    await this.#database.transaction(() => this.#heard(agent, platform, until.toISOString()));
  }

  async take(
    given: NewChatMessage,
    status: ChatMessage["status"] = "waiting",
  ): Promise<{ message: ChatMessage; created: boolean }> {
    return this.#database.transaction(() => this.#take(given, status));
  }

  async conversation(id: string): Promise<Conversation | undefined> {
    const [found] = await this.#database.read(() => this.#conversations("WHERE id = ?", id));
    return found;
  }

  async conversationByKey(key: string): Promise<Conversation | undefined> {
    const [found] = await this.#database.read(() => this.#conversations("WHERE key = ?", key));
    return found;
  }

  async openConversation(
    key: string,
    of: Pick<Conversation, "agent" | "platform" | "room">,
  ): Promise<Conversation> {
    return this.#database.transaction(() => this.#conversationFor(key, of, this.#clock()));
  }

  async conversations(): Promise<Conversation[]> {
    return this.#database.read(() => this.#conversations("ORDER BY last_used_at DESC"));
  }

  async changeConversation(id: string, change: ConversationChange): Promise<Conversation> {
    return this.#database.transaction(() => this.#changeConversation(id, change));
  }

  async open(): Promise<ChatMessage[]> {
    const rest = "WHERE status IN ('waiting', 'working') ORDER BY sent_at, seq";
    return this.#database.read(() => this.#messages(rest));
  }

  async ofJob(jobId: string): Promise<ChatMessage | undefined> {
    const [found] = await this.#database.read(() => this.#messages("WHERE job_id = ?", jobId));
    return found;
  }

  async changeMessage(id: string, change: ChatMessageChange): Promise<ChatMessage> {
    return this.#database.transaction(() => this.#changeMessage(id, change));
  }

  async beginPost(message: string, subject: string): Promise<{ post: ChatPost; first: boolean }> {
    return this.#database.transaction(() => this.#beginPost(message, subject));
  }

  async endPost(nonce: string, postedId: string): Promise<ChatPost> {
    return this.#database.transaction(() => this.#endPost(nonce, postedId));
  }

  async posts(message: string): Promise<ChatPost[]> {
    return this.#database.read(() => this.#posts("WHERE message = ? ORDER BY rowid", message));
  }

  async prune(before: Date, limit: number): Promise<number> {
    return this.#database.transaction(() => pruneChat(before.toISOString(), limit));
  }

  *#heardUntil(agent: string, platform: Platform): Steps<Date> {
    const add = `INSERT INTO chat_links (agent, platform, heard_until) VALUES (?, ?, ?)
                 ON CONFLICT DO NOTHING`;
    yield* run(add, agent, platform, this.#clock().toISOString());
    const sql = "SELECT heard_until FROM chat_links WHERE agent = ? AND platform = ?";
    return new Date(String((yield* one(sql, agent, platform))?.heard_until));
  }

  *#heard(agent: string, platform: Platform, until: string): Steps<void> {
    const { greatest } = this.#database.dialect;
    const sql = `UPDATE chat_links SET heard_until = ${greatest}(heard_until, ?)
                 WHERE agent = ? AND platform = ?`;
    yield* run(sql, until, agent, platform);
  }

  *#take(
    given: NewChatMessage,
    status: ChatMessage["status"],
  ): Steps<{ message: ChatMessage; created: boolean }> {
    const { agent, platform, message_id, sent_at } = given;
    const where = "WHERE agent = ? AND platform = ? AND message_id = ?";
    const [known] = yield* this.#messages(where, agent, platform, message_id);
    if (known) return { message: known, created: false };
    yield* this.#heard(agent, platform, sent_at);
    return { message: yield* this.#insert(given, status), created: true };
  }

  *#changeConversation(id: string, change: ConversationChange): Steps<Conversation> {
    const [conversation] = yield* this.#conversations("WHERE id = ?", id);
    if (!conversation) throw new Error(`there is no conversation ${id}`);
    const changed = conversationSchema.parse({ ...conversation, ...change });
    yield* run("UPDATE conversations SET record = ? WHERE id = ?", JSON.stringify(changed), id);
    return changed;
  }

  *#changeMessage(id: string, change: ChatMessageChange): Steps<ChatMessage> {
    const [message] = yield* this.#messages("WHERE id = ?", id);
    if (!message) throw new Error(`there is no message ${id}`);
    const isAnswered = change.status === "answered" && message.answered_at === null;
    const answered = isAnswered ? { answered_at: this.#clock().toISOString() } : {};
    const changed = chatMessageSchema.parse({ ...message, ...change, ...answered });
    yield* run("UPDATE chat_messages SET record = ? WHERE id = ?", JSON.stringify(changed), id);
    return changed;
  }

  *#beginPost(message: string, subject: string): Steps<{ post: ChatPost; first: boolean }> {
    const nonce = nonceOf(message, subject);
    const [known] = yield* this.#posts("WHERE nonce = ?", nonce);
    if (known) return { post: known, first: false };
    const begun_at = this.#clock().toISOString();
    const post = { nonce, message, subject, begun_at, posted_id: null, posted_at: null };
    const sql = "INSERT INTO chat_posts (nonce, message, record) VALUES (?, ?, ?)";
    yield* run(sql, nonce, message, JSON.stringify(post));
    return { post, first: true };
  }

  *#endPost(nonce: string, postedId: string): Steps<ChatPost> {
    const [post] = yield* this.#posts("WHERE nonce = ?", nonce);
    if (!post) throw new Error(`there is no post ${nonce}`);
    const posted_at = this.#clock().toISOString();
    const posted = chatPostSchema.parse({ ...post, posted_id: postedId, posted_at });
    yield* run("UPDATE chat_posts SET record = ? WHERE nonce = ?", JSON.stringify(posted), nonce);
    return posted;
  }

  *#insert(
    { conversation_key: key, ...given }: NewChatMessage,
    status: ChatMessage["status"],
  ): Steps<ChatMessage> {
    const now = this.#clock();
    const conversation = yield* this.#conversationFor(key, given, now);
    const message = chatMessageSchema.parse({
      ...given,
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
    yield* run(sql, message.id, JSON.stringify(message));
    return message;
  }

  *#conversationFor(
    key: string,
    { agent, platform, room }: Pick<NewChatMessage, "agent" | "platform" | "room">,
    now: Date,
  ): Steps<Conversation> {
    const [known] = yield* this.#conversations("WHERE key = ?", key);
    if (known) return known;
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
    yield* run(sql, conversation.id, JSON.stringify(conversation));
    return conversation;
  }

  *#conversations(rest: string, ...values: Value[]): Steps<Conversation[]> {
    const rows = yield* all(`SELECT id, record FROM conversations ${rest}`, ...values);
    return rows.map((row) => readRecord(this.#database, conversationSchema, row));
  }

  *#messages(rest: string, ...values: Value[]): Steps<ChatMessage[]> {
    const rows = yield* all(`SELECT id, record FROM chat_messages ${rest}`, ...values);
    return rows.map((row) => readRecord(this.#database, chatMessageSchema, row));
  }

  *#posts(rest: string, ...values: Value[]): Steps<ChatPost[]> {
    const rows = yield* all(`SELECT nonce AS id, record FROM chat_posts ${rest}`, ...values);
    return rows.map((row) => readRecord(this.#database, chatPostSchema, row));
  }
}

function* pruneChat(before: string, limit: number): Steps<number> {
  const gone = yield* run(
    `DELETE FROM chat_messages WHERE seq IN (SELECT seq FROM chat_messages
       WHERE status IN ('answered', 'dropped') AND sent_at < ? ORDER BY seq LIMIT ?)`,
    before,
    limit,
  );
  yield* run(
    `DELETE FROM conversations WHERE last_used_at < ? AND NOT EXISTS
       (SELECT 1 FROM chat_messages WHERE conversation_id = conversations.id)`,
    before,
  );
  return gone;
}
