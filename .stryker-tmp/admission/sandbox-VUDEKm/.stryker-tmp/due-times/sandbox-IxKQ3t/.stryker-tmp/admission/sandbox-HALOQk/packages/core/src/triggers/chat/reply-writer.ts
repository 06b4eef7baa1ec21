import { setTimeout as delay } from "node:timers/promises";
import type { ChatMessage } from "@herdctl/protocol";
import type { ChatStore } from "../../store/contracts/stores.ts";
import { failPoint } from "../../testing/failpoints.ts";
import type { Answer, AnswerFile } from "./compose-answer.ts";
import { ChatError, type Connector, type OutgoingPost } from "./connector.ts";
import { retryChatCall } from "./retry-posts.ts";

/**
 * Writes the answer to one message. Its first post appears immediately and is edited while the
 * agent works; the rest follows at the end. Each post is recorded before it is made. Posts that a
 * dead fleet started are found by their nonce and never made twice.
 */
export class ReplyWriter {
  private first: Promise<string> | undefined;
  private wantedText: string | undefined;
  private shownText: string | undefined;
  private activeEdit: Promise<void> | undefined;
  private lastEdit = 0;
  private edits = 0;
  private isFinished = false;

  constructor(
    private readonly connector: Connector,
    private readonly store: ChatStore,
    private readonly message: ChatMessage,
    private readonly signal: AbortSignal,
  ) {}

  /** Posts the first visible sign. */
  postPlaceholder(text: string): Promise<string> {
    this.first ??= this.post("part 0", { text, replyToId: this.message.message_id }).then((id) => {
      this.shownText = text;
      this.lastEdit = Date.now();
      return id;
    });
    return this.first;
  }

  /** Shows this text as soon as the platform allows; texts in between are skipped. */
  showProgress(text: string): void {
    this.wantedText = text;
    // A failed edit needs no handling: the final answer replaces it.
    this.activeEdit ??= this.editUntilCurrent()
      .catch(() => undefined)
      .finally(() => {
        this.activeEdit = undefined;
      });
  }

  async finish({ posts, files }: Answer): Promise<void> {
    this.isFinished = true;
    await this.first?.catch(() => undefined);
    await this.activeEdit;
    const [head = "", ...rest] = posts;
    await this.finishFirst(head);
    for (const [index, text] of rest.entries()) await this.post(`part ${index + 1}`, { text });
    for (const file of files) await this.attach(file);
  }

  /** A first post that was deleted is posted again. */
  private async finishFirst(text: string): Promise<void> {
    const replyTo = this.message.message_id;
    try {
      await this.post("part 0", { text, replyToId: replyTo }, true);
    } catch (error) {
      if (!(error instanceof ChatError) || error.isTransient) throw error;
      await this.post("part 0 again", { text, replyToId: replyTo });
    }
  }

  /** A file that cannot be posted does not affect the rest of the answer. */
  private async attach({ name, read }: AnswerFile): Promise<void> {
    const content = await read();
    if (!content) return;
    // The text identifies the post where the nonce is not kept.
    const text = `📎 \`${name}\``;
    const replyTo = this.message.message_id;
    try {
      await this.post(`file ${name}`, { text, replyToId: replyTo, files: [{ name, content }] });
    } catch (error) {
      if (!(error instanceof ChatError) || error.isTransient) throw error;
      const failureText = `${text} could not be posted: ${error.message} ${error.hint}`;
      await this.post(`file ${name} refused`, { text: failureText, replyToId: replyTo });
    }
  }

  /** Posts once. With `update`, a post that already exists gets this content. */
  async post(subject: string, post: OutgoingPost, update = false): Promise<string> {
    const { post: record, first } = await this.store.beginPost(this.message.id, subject);
    failPoint("reply begun");
    const { nonce, posted_id } = record;
    const postWithNonce = { ...post, nonce };
    const since = new Date(record.begun_at);
    const { id, isNew } =
      posted_id === null
        ? await retryChatCall(
            (attempt) => this.postOrFind(postWithNonce, since, first && attempt === 0),
            this.signal,
          )
        : { id: posted_id, isNew: false };
    failPoint("reply posted");
    if (posted_id === null) await this.store.endPost(nonce, id);
    failPoint("reply recorded");
    const change = () => this.connector.edit(this.message.room, id, post);
    if (update && !isNew) await retryChatCall(change, this.signal);
    return id;
  }

  /** Looks first for a post that may already exist. */
  private async postOrFind(post: OutgoingPost, since: Date, isFirst: boolean) {
    const { room } = this.message;
    const found = isFirst ? undefined : await this.connector.findPost(room, post, since);
    if (found !== undefined) return { id: found, isNew: false };
    return { id: await this.connector.post(room, post), isNew: true };
  }

  private async editUntilCurrent(): Promise<void> {
    const id = await this.first;
    while (id !== undefined && !this.isFinished && this.wantedText !== this.shownText) {
      const { lastEdit, edits } = this;
      const minEditIntervalMs = this.connector.limits.minEditIntervalMs;
      const wait = delayBeforeEdit(Date.now(), { lastEdit, minEditIntervalMs, edits });
      if (wait > 0) await delay(Math.min(wait, pollIntervalMs));
      if (wait > pollIntervalMs || this.isFinished) continue;
      const text = this.wantedText ?? "";
      this.lastEdit = Date.now();
      this.edits += 1;
      await this.connector.edit(this.message.room, id, { text });
      this.shownText = text;
    }
  }
}

/** A finished answer does not wait for the next edit of the unfinished one. */
const pollIntervalMs = 100;

/** How long to wait before a post may be edited again. */
export function delayBeforeEdit(
  now: number,
  {
    lastEdit,
    minEditIntervalMs,
    edits,
  }: { lastEdit: number; minEditIntervalMs: number; edits: number },
): number {
  // Longer answers are edited less often, because platforms also count edits over minutes.
  const intervalMs = minEditIntervalMs * Math.min(1 + edits / 20, 4);
  return Math.max(0, lastEdit + intervalMs - now);
}
