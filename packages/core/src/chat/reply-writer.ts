import { setTimeout as delay } from "node:timers/promises";
import { failPoint } from "../faults/fail-point.ts";
import type { ChatMessage } from "../state/chat.ts";
import type { ChatStore } from "../state/contract.ts";
import type { Answer } from "./compose-answer.ts";
import { ChatError, type Connector, type OutgoingPost } from "./connector.ts";
import { waitBeforeEdit } from "./edit-pace.ts";
import type { AnswerFile } from "./files-out.ts";
import { persevere } from "./persevere.ts";

/**
 * Writes the answer to one message. Its first post is there at once and is edited while the agent
 * works; the rest follows at the end. Each post is on record before it is made: what a dead fleet
 * began is looked up by its nonce, and never posted twice.
 */
export class ReplyWriter {
  private first: Promise<string> | undefined;
  private wanted: string | undefined;
  private shown: string | undefined;
  private editing: Promise<void> | undefined;
  private lastEdit = 0;
  private edits = 0;
  private closed = false;

  constructor(
    private readonly connector: Connector,
    private readonly store: ChatStore,
    private readonly message: ChatMessage,
    private readonly signal: AbortSignal,
  ) {}

  /** The first visible sign. */
  begin(text: string): Promise<string> {
    this.first ??= this.post("part 0", { text, replyTo: this.message.message_id }).then((id) => {
      this.shown = text;
      this.lastEdit = Date.now();
      return id;
    });
    return this.first;
  }

  /** Shows this as soon as the platform lets us; what comes in between is left out. */
  show(text: string): void {
    this.wanted = text;
    // What could not be shown in between is shown at the end.
    this.editing ??= this.edit()
      .catch(() => undefined)
      .finally(() => {
        this.editing = undefined;
      });
  }

  async finish({ parts, files }: Answer): Promise<void> {
    this.closed = true;
    await this.first?.catch(() => undefined);
    await this.editing;
    const [head = "", ...rest] = parts;
    await this.finishFirst(head);
    for (const [index, text] of rest.entries()) await this.post(`part ${index + 1}`, { text });
    for (const file of files) await this.attach(file);
  }

  /** A first post that somebody deleted is made anew. */
  private async finishFirst(text: string): Promise<void> {
    const replyTo = this.message.message_id;
    try {
      await this.post("part 0", { text, replyTo }, true);
    } catch (error) {
      if (!(error instanceof ChatError) || error.mayPass) throw error;
      await this.post("part 0 again", { text, replyTo });
    }
  }

  /** A file that is not taken takes nothing of the answer with it. */
  private async attach({ name, read }: AnswerFile): Promise<void> {
    const content = await read();
    if (!content) return;
    // The words tell the post apart from others where the nonce is not kept.
    const text = `📎 \`${name}\``;
    const replyTo = this.message.message_id;
    try {
      await this.post(`file ${name}`, { text, replyTo, files: [{ name, content }] });
    } catch (error) {
      if (!(error instanceof ChatError) || error.mayPass) throw error;
      const why = `${text} could not be posted: ${error.message} ${error.hint}`;
      await this.post(`file ${name} refused`, { text: why, replyTo });
    }
  }

  /** Posts once; where it stands already it is made to say this, if that matters. */
  async post(subject: string, post: OutgoingPost, update = false): Promise<string> {
    const { post: record, first } = await this.store.beginPost(this.message.id, subject);
    failPoint("reply begun");
    const { nonce, posted_id } = record;
    const named = { ...post, nonce };
    const since = new Date(record.begun_at);
    const { id, isNew } =
      posted_id === null
        ? await persevere(
            (attempt) => this.place(named, since, first && attempt === 0),
            this.signal,
          )
        : { id: posted_id, isNew: false };
    failPoint("reply posted");
    if (posted_id === null) await this.store.endPost(nonce, id);
    failPoint("reply recorded");
    const change = () => this.connector.edit(this.message.room, id, post);
    if (update && !isNew) await persevere(change, this.signal);
    return id;
  }

  /** What may have been posted before is looked for first. */
  private async place(post: OutgoingPost, since: Date, isFirst: boolean) {
    const { room } = this.message;
    const found = isFirst ? undefined : await this.connector.find(room, post, since);
    if (found !== undefined) return { id: found, isNew: false };
    return { id: await this.connector.post(room, post), isNew: true };
  }

  private async edit(): Promise<void> {
    const id = await this.first;
    while (id !== undefined && !this.closed && this.wanted !== this.shown) {
      const { lastEdit, edits } = this;
      const gap = this.connector.limits.editGap;
      const wait = waitBeforeEdit(Date.now(), { lastEdit, gap, edits });
      if (wait > 0) await delay(Math.min(wait, lookEvery));
      if (wait > lookEvery || this.closed) continue;
      const text = this.wanted ?? "";
      this.lastEdit = Date.now();
      this.edits += 1;
      await this.connector.edit(this.message.room, id, { text });
      this.shown = text;
    }
  }
}

/** A finished answer does not wait for the next look at an unfinished one. */
const lookEvery = 100;
