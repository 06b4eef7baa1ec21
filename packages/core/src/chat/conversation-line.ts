import { UserError } from "../errors/user-error.ts";
import { failPoint } from "../faults/fail-point.ts";
import { eventsOf } from "../runner/job-event.ts";
import type { ChatMessage } from "../state/chat.ts";
import type { Job } from "../state/job.ts";
import { beginJob } from "./begin-job.ts";
import { type Answer, composeAnswer } from "./compose-answer.ts";
import { ChatError } from "./connector.ts";
import { removeImages } from "./kept-images.ts";
import type { LinkContext } from "./link-context.ts";
import { isUnkept, untilKept } from "./persevere.ts";
import { ReplyFold } from "./reply-fold.ts";
import { ReplyWriter } from "./reply-writer.ts";

interface CarriedOut {
  message: ChatMessage;
  job: Job;
  said: ReplyFold;
}

const typingEvery = 8_000;

/** The messages of one conversation, answered one after the other in the order they came. */
export class ConversationLine {
  private readonly queue: ChatMessage[] = [];
  private working: Promise<void> | undefined;
  private writer: ReplyWriter | undefined;
  private current: ChatMessage | undefined;
  private begun: Promise<void> = Promise.resolve();
  private tellBegun: () => void = () => undefined;

  constructor(
    private readonly context: LinkContext,
    private readonly onIdle: () => void,
  ) {}

  /** The message that is worked on now. */
  get now(): ChatMessage | undefined {
    return this.current;
  }

  /** The job of that message, as soon as it has one. */
  async jobNow(): Promise<string | null> {
    await this.begun;
    return this.current?.job_id ?? null;
  }

  get isIdle(): boolean {
    return this.working === undefined;
  }

  push(message: ChatMessage): void {
    if (this.current?.id === message.id || this.queue.some(({ id }) => id === message.id)) return;
    this.queue.push(message);
    if (this.working && message.status === "waiting") this.markSeen(message);
    this.working ??= this.work().finally(() => {
      this.working = undefined;
      this.onIdle();
    });
  }

  /** Nothing that waits here is begun any more. */
  async drop(why: string): Promise<number> {
    const dropped = this.queue.splice(0);
    for (const { id } of dropped) {
      await this.context.store.changeMessage(id, { status: "dropped", note: why });
    }
    return dropped.length;
  }

  /** Shows why nothing happens for now. */
  waits({ outcome, due_at }: Job): void {
    const until = due_at === null ? "" : ` It goes on at ${due_at.slice(11, 16)} UTC.`;
    this.writer?.show(`⏳ ${outcome?.message ?? "It has to wait."}${until}`);
  }

  /** Posts beside the answer that is being written, once for each subject. */
  async post(subject: string, post: Parameters<ReplyWriter["post"]>[1]): Promise<void> {
    await this.writer?.post(subject, post, true);
  }

  async idle(): Promise<void> {
    await this.working;
  }

  private markSeen({ room, message_id }: ChatMessage): void {
    this.context.connector.mark(room, message_id).catch(() => undefined);
  }

  private async work(): Promise<void> {
    for (;;) {
      const message = this.queue.shift();
      if (!message || this.context.signal.aborted) return;
      this.current = message;
      this.begun = new Promise((done) => {
        this.tellBegun = done;
      });
      try {
        await untilKept(() => this.answer(message), this.context.signal);
      } catch (error) {
        await this.giveUp(message, error);
      }
      this.current = undefined;
      this.writer = undefined;
      this.tellBegun();
    }
  }

  /** A fleet that stops leaves the message to the next one; what can never be posted is put down. */
  private async giveUp(message: ChatMessage, error: unknown): Promise<void> {
    if (this.context.signal.aborted || isStopping(error)) return;
    const isFinal = error instanceof ChatError && !error.mayPass;
    this.context.trouble(`a message of ${message.sender.id} could not be answered`, error);
    if (!isFinal) return;
    const note = `${error.message} ${error.hint}`;
    await this.context.store.changeMessage(message.id, { status: "dropped", note });
  }

  private async answer(given: ChatMessage): Promise<void> {
    const { connector, store, signal, settings, fleet } = this.context;
    const writer = new ReplyWriter(connector, store, given, signal);
    this.writer = writer;
    const typing = this.keepTyping(given);
    try {
      // Where nothing can be said, nothing is done.
      await writer.begin("⏳ …");
      // Platforms take the sign away with each post.
      this.showTyping(given, true);
      const { message, job, said } = await this.carryOut(given, writer);
      const jobDir = fleet.state.jobDir(job.id);
      await writer.finish(composeAnswer(job, said, connector, { footer: settings.footer, jobDir }));
      failPoint("reply finished");
      await this.settle(message, job);
    } catch (error) {
      if (!(error instanceof UserError) || signal.aborted || isStopping(error)) throw error;
      if (isUnkept(error)) throw error;
      await writer.finish(refusal(error));
      await store.changeMessage(given.id, { status: "answered", note: error.message });
    } finally {
      clearInterval(typing);
      this.showTyping(given, false);
    }
  }

  /** Through the one door, then to its end. A session that is gone is replaced by a fresh one, once. */
  private async carryOut(given: ChatMessage, writer: ReplyWriter): Promise<CarriedOut> {
    const { fleet, signal, store, questions } = this.context;
    let message = given;
    for (;;) {
      message = message.job_id === null ? await beginJob(this.context, message) : message;
      this.current = message;
      this.tellBegun();
      const jobId = message.job_id ?? "";
      await questions.askOpen(jobId);
      const said = await this.follow(jobId, writer);
      const job = await fleet.wait(jobId, signal);
      const isGone = job.outcome?.code === "session_missing" && job.resumed_from !== null;
      if (!isGone || message.restarts > 0) return { message, job, said };
      await store.changeConversation(message.conversation_id, { session_id: null });
      message = await store.changeMessage(message.id, { job_id: null, restarts: 1 });
    }
  }

  /** Shows what the job says as it says it, from its beginning to its end. */
  private async follow(jobId: string, writer: ReplyWriter): Promise<ReplyFold> {
    const { fleet, signal, connector } = this.context;
    const said = new ReplyFold();
    for await (const { message } of fleet.output(jobId, signal)) {
      for (const event of eventsOf(message)) said.see(event);
      writer.show(said.progress(connector.limits.text));
    }
    return said;
  }

  /** The session of a conversation that was begun anew meanwhile is not brought back. */
  private async settle(message: ChatMessage, job: Job): Promise<void> {
    const { store } = this.context;
    const conversation = await store.conversation(message.conversation_id);
    if (conversation && conversation.generation === message.generation) {
      const last_used_at = new Date().toISOString();
      const session = job.session_id === null ? {} : { session_id: job.session_id };
      await store.changeConversation(conversation.id, { ...session, last_used_at });
    }
    await this.context.questions.close(message);
    await removeImages(this.context.agent(), message);
    await store.changeMessage(message.id, { status: "answered" });
    failPoint("message answered");
    this.context.well();
  }

  private keepTyping(message: ChatMessage): NodeJS.Timeout {
    this.showTyping(message, true);
    return setInterval(() => this.showTyping(message, true), typingEvery).unref();
  }

  private showTyping({ room, message_id }: ChatMessage, isWorking: boolean): void {
    this.context.connector.typing(room, message_id, isWorking).catch(() => undefined);
  }
}

function isStopping(error: unknown): boolean {
  return error instanceof UserError && error.code === "fleet_unreachable";
}

function refusal({ message, hint }: UserError): Answer {
  return { parts: [`⚠️ ${message}\n${hint}`], files: [] };
}
