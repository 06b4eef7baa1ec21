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
import type { Database, Value } from "./database.ts";
import { readRecord } from "./record.ts";

export class SqliteChatStore implements ChatStore {
  readonly #database: Database;
  readonly #clock: () => Date;

  constructor(database: Database, clock: () => Date) {
    this.#database = database;
    this.#clock = clock;
  }

  async heardUntil(agent: string, platform: Platform): Promise<Date> {
    return this.#database.transaction(() => {
      const now = this.#clock().toISOString();
      const add = "INSERT INTO chat_links VALUES (?, ?, ?) ON CONFLICT DO NOTHING";
      this.#database.run(add, agent, platform, now);
      const sql = "SELECT heard_until FROM chat_links WHERE agent = ? AND platform = ?";
      return new Date(String(this.#database.get(sql, agent, platform)?.heard_until));
    });
  }

  async heard(agent: string, platform: Platform, until: Date): Promise<void> {
    this.#database.transaction(() => this.#heard(agent, platform, until.toISOString()));
  }

  async take(
    given: NewChatMessage,
    status: ChatMessage["status"] = "waiting",
  ): Promise<{ message: ChatMessage; created: boolean }> {
    return this.#database.transaction(() => {
      const { agent, platform, message_id, sent_at } = given;
      const [known] = this.#messages(
        "WHERE agent = ? AND platform = ? AND message_id = ?",
        agent,
        platform,
        message_id,
      );
      if (known) return { message: known, created: false };
      this.#heard(agent, platform, sent_at);
      return { message: this.#insert(given, status), created: true };
    });
  }

  async conversation(id: string): Promise<Conversation | undefined> {
    return this.#conversations("WHERE id = ?", id)[0];
  }

  async conversationByKey(key: string): Promise<Conversation | undefined> {
    return this.#conversations("WHERE key = ?", key)[0];
  }

  async openConversation(
    key: string,
    of: Pick<Conversation, "agent" | "platform" | "room">,
  ): Promise<Conversation> {
    return this.#database.transaction(() => this.#conversationFor(key, of, this.#clock()));
  }

  async conversations(): Promise<Conversation[]> {
    return this.#conversations("ORDER BY last_used_at DESC");
  }

  async changeConversation(id: string, change: ConversationChange): Promise<Conversation> {
    return this.#database.transaction(() => {
      const [conversation] = this.#conversations("WHERE id = ?", id);
      if (!conversation) throw new Error(`there is no conversation ${id}`);
      const changed = conversationSchema.parse({ ...conversation, ...change });
      const sql = "UPDATE conversations SET record = ? WHERE id = ?";
      this.#database.run(sql, JSON.stringify(changed), id);
      return changed;
    });
  }

  async open(): Promise<ChatMessage[]> {
    return this.#messages("WHERE status IN ('waiting', 'working') ORDER BY sent_at, seq");
  }

  async ofJob(jobId: string): Promise<ChatMessage | undefined> {
    return this.#messages("WHERE job_id = ?", jobId)[0];
  }

  async changeMessage(id: string, change: ChatMessageChange): Promise<ChatMessage> {
    return this.#database.transaction(() => {
      const [message] = this.#messages("WHERE id = ?", id);
      if (!message) throw new Error(`there is no message ${id}`);
      const isAnswered = change.status === "answered" && message.answered_at === null;
      const answered = isAnswered ? { answered_at: this.#clock().toISOString() } : {};
      const changed = chatMessageSchema.parse({ ...message, ...change, ...answered });
      const sql = "UPDATE chat_messages SET record = ? WHERE id = ?";
      this.#database.run(sql, JSON.stringify(changed), id);
      return changed;
    });
  }

  async beginPost(message: string, subject: string): Promise<{ post: ChatPost; first: boolean }> {
    return this.#database.transaction(() => {
      const nonce = nonceOf(message, subject);
      const [known] = this.#posts("WHERE nonce = ?", nonce);
      if (known) return { post: known, first: false };
      const begun_at = this.#clock().toISOString();
      const post = { nonce, message, subject, begun_at, posted_id: null, posted_at: null };
      const sql = "INSERT INTO chat_posts (nonce, message, record) VALUES (?, ?, ?)";
      this.#database.run(sql, nonce, message, JSON.stringify(post));
      return { post, first: true };
    });
  }

  async endPost(nonce: string, postedId: string): Promise<ChatPost> {
    return this.#database.transaction(() => {
      const [post] = this.#posts("WHERE nonce = ?", nonce);
      if (!post) throw new Error(`there is no post ${nonce}`);
      const posted_at = this.#clock().toISOString();
      const posted = chatPostSchema.parse({ ...post, posted_id: postedId, posted_at });
      const sql = "UPDATE chat_posts SET record = ? WHERE nonce = ?";
      this.#database.run(sql, JSON.stringify(posted), nonce);
      return posted;
    });
  }

  async posts(message: string): Promise<ChatPost[]> {
    return this.#posts("WHERE message = ? ORDER BY rowid", message);
  }

  async prune(before: Date, limit: number): Promise<number> {
    const time = before.toISOString();
    return this.#database.transaction(() => {
      const gone = this.#database.run(
        `DELETE FROM chat_messages WHERE seq IN (SELECT seq FROM chat_messages
           WHERE status IN ('answered', 'dropped') AND sent_at < ?1 ORDER BY seq LIMIT ?2)`,
        time,
        limit,
      );
      this.#database.run(
        `DELETE FROM conversations WHERE last_used_at < ?1 AND NOT EXISTS
           (SELECT 1 FROM chat_messages WHERE conversation_id = conversations.id)`,
        time,
      );
      return gone;
    });
  }

  #heard(agent: string, platform: Platform, until: string): void {
    const sql = `UPDATE chat_links SET heard_until = max(heard_until, ?)
                 WHERE agent = ? AND platform = ?`;
    this.#database.run(sql, until, agent, platform);
  }

  #insert(
    { conversation_key: key, ...given }: NewChatMessage,
    status: ChatMessage["status"],
  ): ChatMessage {
    const now = this.#clock();
    const conversation = this.#conversationFor(key, given, now);
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
    this.#database.run(sql, message.id, JSON.stringify(message));
    return message;
  }

  #conversationFor(
    key: string,
    { agent, platform, room }: Pick<NewChatMessage, "agent" | "platform" | "room">,
    now: Date,
  ): Conversation {
    const [known] = this.#conversations("WHERE key = ?", key);
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
    this.#database.run(sql, conversation.id, JSON.stringify(conversation));
    return conversation;
  }

  #conversations(rest: string, ...values: Value[]): Conversation[] {
    return this.#database
      .all(`SELECT id, record FROM conversations ${rest}`, ...values)
      .map((row) => readRecord(this.#database, conversationSchema, row));
  }

  #messages(rest: string, ...values: Value[]): ChatMessage[] {
    return this.#database
      .all(`SELECT id, record FROM chat_messages ${rest}`, ...values)
      .map((row) => readRecord(this.#database, chatMessageSchema, row));
  }

  #posts(rest: string, ...values: Value[]): ChatPost[] {
    return this.#database
      .all(`SELECT nonce AS id, record FROM chat_posts ${rest}`, ...values)
      .map((row) => readRecord(this.#database, chatPostSchema, row));
  }
}
