import {
  type ChatMessage,
  type Conversation,
  type Job,
  toJobEvents,
  UserError,
} from "@herdctl/protocol";
import { isStoreUnavailable } from "../../lib/retry.ts";
import { failPoint } from "../../testing/failpoints.ts";
import { chatActor } from "./chat-fleet-api.ts";
import { buildChatPrompt } from "./chat-prompt.ts";
import { type Answer, composeAnswer } from "./compose-answer.ts";
import type { ConnectionContext } from "./connection-context.ts";
import { ChatError } from "./connector.ts";
import { continuedSession, sessionToResume } from "./conversation.ts";
import { removeImages } from "./images.ts";
import { ReplyFold, ReplyWriter } from "./reply-writer.ts";
import { retryWhileStoreUnavailable } from "./retry-posts.ts";

interface FinishedTurn {
  message: ChatMessage;
  job: Job;
  reply: ReplyFold;
}

const typingIntervalMs = 8_000;

/** The messages of one conversation, answered one after the other in order of arrival. */
export class ConversationQueue {
  private readonly queue: ChatMessage[] = [];
  private activeWork: Promise<void> | undefined;
  private writer: ReplyWriter | undefined;
  private current: ChatMessage | undefined;
  private jobStarted: Promise<void> = Promise.resolve();
  private resolveJobStarted: () => void = () => undefined;

  constructor(
    private readonly context: ConnectionContext,
    private readonly onIdle: () => void,
  ) {}

  /** The message that is being answered. */
  get currentMessage(): ChatMessage | undefined {
    return this.current;
  }

  /** The job of that message, once it has one. */
  async currentJobId(): Promise<string | null> {
    await this.jobStarted;
    return this.current?.job_id ?? null;
  }

  get isIdle(): boolean {
    return this.activeWork === undefined;
  }

  push(message: ChatMessage): void {
    if (this.current?.id === message.id || this.queue.some(({ id }) => id === message.id)) return;
    this.queue.push(message);
    if (this.activeWork && message.status === "waiting") this.markSeen(message);
    this.activeWork ??= this.processQueue().finally(() => {
      this.activeWork = undefined;
      this.onIdle();
    });
  }

  /** Drops all waiting messages. */
  async dropWaiting(reason: string): Promise<number> {
    const dropped = this.queue.splice(0);
    for (const { id } of dropped) {
      await this.context.store.updateMessage(id, { status: "dropped", note: reason });
    }
    return dropped.length;
  }

  /** Shows why the job is waiting. */
  showWaiting({ outcome, due_at }: Job): void {
    const until = due_at === null ? "" : ` It continues at ${due_at.slice(11, 16)} UTC.`;
    this.writer?.showProgress(`⏳ ${outcome?.message ?? "The job is waiting."}${until}`);
  }

  /** Posts next to the answer that is being written, once for each subject. */
  async post(subject: string, post: Parameters<ReplyWriter["post"]>[1]): Promise<void> {
    await this.writer?.post(subject, post, true);
  }

  async whenIdle(): Promise<void> {
    await this.activeWork;
  }

  private markSeen({ room, message_id }: ChatMessage): void {
    this.context.connector.markSeen(room, message_id).catch(() => undefined);
  }

  private async processQueue(): Promise<void> {
    for (;;) {
      const message = this.queue.shift();
      if (!message || this.context.signal.aborted) return;
      this.current = message;
      this.jobStarted = new Promise((done) => {
        this.resolveJobStarted = done;
      });
      try {
        await retryWhileStoreUnavailable(() => this.answer(message), this.context.signal);
      } catch (error) {
        await this.handleFailure(message, error);
      }
      this.current = undefined;
      this.writer = undefined;
      this.resolveJobStarted();
    }
  }

  /**
   * A fleet that stops leaves the message to the next one. A message that can never be answered is
   * dropped.
   */
  private async handleFailure(message: ChatMessage, error: unknown): Promise<void> {
    if (this.context.signal.aborted || isStopping(error)) return;
    const isFinal = error instanceof ChatError && !error.isTransient;
    this.context.reportError(`Failed to answer a message of ${message.sender.id}`, error);
    if (!isFinal) return;
    const note = `${error.message} ${error.hint}`;
    await this.context.store.updateMessage(message.id, { status: "dropped", note });
  }

  private async answer(initialMessage: ChatMessage): Promise<void> {
    const { connector, store, signal, settings, fleet } = this.context;
    const writer = new ReplyWriter(connector, store, initialMessage, signal);
    this.writer = writer;
    const typing = this.keepTyping(initialMessage);
    try {
      // An agent that cannot post does not run.
      await writer.postPlaceholder("⏳ …");
      // Platforms remove the typing sign with each post.
      this.showTyping(initialMessage, true);
      const { message, job, reply } = await this.runJob(initialMessage, writer);
      const jobDir = fleet.state.jobDir(job.id);
      await writer.finish(
        composeAnswer(job, reply, connector, { footer: settings.footer, jobDir }),
      );
      failPoint("reply finished");
      await this.finishMessage(message, job);
    } catch (error) {
      if (!(error instanceof UserError) || signal.aborted || isStopping(error)) throw error;
      if (isStoreUnavailable(error)) throw error;
      await writer.finish(refusalAnswer(error));
      await store.updateMessage(initialMessage.id, { status: "answered", note: error.message });
    } finally {
      clearInterval(typing);
      this.showTyping(initialMessage, false);
    }
  }

  /** Admits the job and waits for its end. A missing session is replaced by a new one, once. */
  private async runJob(initialMessage: ChatMessage, writer: ReplyWriter): Promise<FinishedTurn> {
    const { fleet, signal, store, approvals } = this.context;
    let message = initialMessage;
    for (;;) {
      message = message.job_id === null ? await startJob(this.context, message) : message;
      this.current = message;
      this.resolveJobStarted();
      const jobId = message.job_id ?? "";
      await approvals.showOpenApprovals(jobId);
      const reply = await this.streamReply(jobId, writer);
      const job = await fleet.waitForJob(jobId, signal);
      const isSessionMissing = job.outcome?.code === "session_missing" && job.resumed_from !== null;
      if (!isSessionMissing || message.restarts > 0) return { message, job, reply };
      await store.updateConversation(message.conversation_id, { session_id: null });
      message = await store.updateMessage(message.id, { job_id: null, restarts: 1 });
    }
  }

  /** Shows the output of the job while it runs. */
  private async streamReply(jobId: string, writer: ReplyWriter): Promise<ReplyFold> {
    const { fleet, signal, connector } = this.context;
    const reply = new ReplyFold();
    for await (const { message } of fleet.output(jobId, signal)) {
      for (const event of toJobEvents(message)) reply.apply(event);
      writer.showProgress(reply.progress(connector.limits.maxTextLength));
    }
    return reply;
  }

  /** A conversation that was reset meanwhile does not get its old session back. */
  private async finishMessage(message: ChatMessage, job: Job): Promise<void> {
    const { store } = this.context;
    const conversation = await store.getConversation(message.conversation_id);
    if (conversation && conversation.generation === message.generation) {
      const last_used_at = new Date().toISOString();
      const session = job.session_id === null ? {} : { session_id: job.session_id };
      await store.updateConversation(conversation.id, { ...session, last_used_at });
    }
    await this.context.approvals.closePosts(message);
    await removeImages(this.context.agent(), message);
    await store.updateMessage(message.id, { status: "answered" });
    failPoint("message answered");
    this.context.onAnswered();
  }

  private keepTyping(message: ChatMessage): NodeJS.Timeout {
    this.showTyping(message, true);
    return setInterval(() => this.showTyping(message, true), typingIntervalMs).unref();
  }

  private showTyping({ room, message_id }: ChatMessage, isWorking: boolean): void {
    this.context.connector.setTyping(room, message_id, isWorking).catch(() => undefined);
  }
}

function isStopping(error: unknown): boolean {
  return error instanceof UserError && error.code === "fleet_unreachable";
}

function refusalAnswer({ message, hint }: UserError): Answer {
  return { posts: [`⚠️ ${message}\n${hint}`], files: [] };
}

/** Admits a message as a job, in the session of its conversation. */
async function startJob(context: ConnectionContext, message: ChatMessage): Promise<ChatMessage> {
  const { fleet, store, settings } = context;
  const conversation = await requireConversation(context, message);
  const resume =
    (await continuedSession(context, message, conversation)) ??
    sessionToResume(conversation, settings.session_expires, new Date());
  const [name, schedule] = findChatSchedule(context) ?? [];
  const since = resume === undefined ? undefined : new Date(conversation.last_used_at);
  const request = {
    trigger: "chat" as const,
    agent: message.agent,
    schedule: name,
    prompt: await buildChatPrompt(context, message, { since, instructions: schedule?.prompt }),
    // The same message always gives the same job.
    key: `chat/${message.id}/${message.restarts}`,
    resume,
    stream: true,
  };
  const { job } = await fleet.trigger(request, chatActor(message.platform, message.sender));
  failPoint("chat job known");
  const { generation } = conversation;
  return store.updateMessage(message.id, { status: "working", job_id: job.id, generation });
}

async function requireConversation(
  context: ConnectionContext,
  message: ChatMessage,
): Promise<Conversation> {
  const found = await context.store.getConversation(message.conversation_id);
  if (found) return found;
  throw new Error(`there is no conversation ${message.conversation_id}`);
}

/** The operator's instructions for chat messages: an enabled schedule of type `chat`. */
function findChatSchedule({ agent }: ConnectionContext) {
  return Object.entries(agent().schedules).find(
    ([, { type, enabled }]) => type === "chat" && enabled,
  );
}
