import type { ResolvedAgent } from "@herdctl/config";
import {
  type Approval,
  type ChatConnectionStatus,
  type ChatMessage,
  type ChatPlatformName,
  type Job,
  Mutex,
  raceTimeout,
} from "@herdctl/protocol";
import { failPoint } from "../../testing/failpoints.ts";
import { ChatApprovals } from "./chat-approvals.ts";
import type { ChatFleetApi } from "./chat-fleet-api.ts";
import { ChatListener, errorText } from "./chat-listener.ts";
import {
  checkSpeaker,
  classifyMessage,
  type ListenRules,
  listenRules,
  type MessageClass,
} from "./classify-message.ts";
import { isCommand } from "./commands.ts";
import type { ConnectionContext } from "./connection-context.ts";
import {
  ChatError,
  type ChatSettings,
  type Connector,
  type IncomingCommand,
  type IncomingMessage,
  type OutgoingPost,
} from "./connector.ts";
import { conversationKey, findJobId } from "./conversation.ts";
import { ConversationQueue } from "./conversation-queue.ts";
import { retryWhileStoreUnavailable } from "./retry-posts.ts";
import { runCommand } from "./run-command.ts";
import { applyTypedAnswer, findAnsweredQuestion } from "./typed-answers.ts";

interface ChatAgentConnectionDeps {
  fleet: ChatFleetApi;
  agent: ResolvedAgent;
  platform: ChatPlatformName;
  connector: Connector;
  onStatusChanged(): void;
}

type WantedCommand = Extract<MessageClass, { kind: "command" }>;

/** Maximum time for disconnecting from the platform. */
const disconnectTimeoutMs = 3_000;

/** One agent on one platform: receives messages and has them answered. */
export class ChatAgentConnection {
  private readonly closeAbort = new AbortController();
  private readonly queues = new Map<string, ConversationQueue>();
  private readonly context: ConnectionContext;
  private readonly rules: ListenRules;
  private readonly listening: ChatListener;
  private readonly recording = new Mutex();

  constructor(private readonly deps: ChatAgentConnectionDeps) {
    const { fleet, agent, platform, connector, onStatusChanged } = deps;
    const settings: NonNullable<ChatSettings[ChatPlatformName]> | undefined =
      agent.chat?.[platform];
    const rules = agent.chat && listenRules(agent.chat, platform);
    if (!settings || !rules) throw new Error(`${agent.name} is not in ${platform}`);
    const { approvers, rule_approvers: ruleApprovers } = settings;
    const put = (jobId: string, subject: string, post: OutgoingPost) =>
      this.postBesideAnswer(jobId, subject, post);
    this.rules = rules;
    this.context = {
      platform,
      settings,
      connector,
      fleet,
      store: fleet.state.chat,
      approvals: new ChatApprovals({
        fleet,
        agent: agent.name,
        platform,
        approvers,
        ruleApprovers,
        connector,
        postBesideAnswer: put,
      }),
      signal: this.closeAbort.signal,
      agent: () => fleet.fleet().agents.find(({ name }) => name === agent.name) ?? agent,
      reportError: (message, cause) => this.reportError(message, cause),
      onAnswered: () => this.listening.setProblem(null),
    };
    this.listening = new ChatListener({
      agent: agent.name,
      platform,
      connector,
      store: fleet.state.chat,
      signal: this.closeAbort.signal,
      receive: (message) => this.receive(message),
      command: (command) => this.command(command),
      press: (press) => this.context.approvals.handleButton(press),
      resumeOpenMessages: () => this.resumeOpenMessages(),
      onStatusChanged,
      reportError: (message, cause) => this.reportError(message, cause),
    });
  }

  get status(): ChatConnectionStatus {
    const { agent, platform } = this.deps;
    const { state, problem } = this.listening;
    const working = [...this.queues.values()].filter(
      ({ currentMessage }) => currentMessage !== undefined,
    ).length;
    return { agent: agent.name, platform, state, problem, active_conversations: working };
  }

  /** Waits up to `timeoutMs` for answers in progress; the next fleet process continues the rest. */
  async close(timeoutMs: number): Promise<void> {
    const whenIdle = () => Promise.all([...this.queues.values()].map((queue) => queue.whenIdle()));
    if (timeoutMs > 0) await raceTimeout(whenIdle(), timeoutMs, () => undefined);
    this.closeAbort.abort();
    this.listening.stop();
    const stopped = this.deps.connector.stop().catch(() => undefined);
    // A platform that does not respond must not delay the shutdown of the fleet.
    const disconnected = Promise.all([stopped, this.listening.opened]);
    await raceTimeout(disconnected, disconnectTimeoutMs, () => undefined);
    await whenIdle();
  }

  /** Shows a request of a job, or its answer, in the chat where the job came from. */
  showApproval(approval: Approval): void {
    this.context.approvals
      .showApproval(approval)
      .catch((error) => this.reportError("Failed to show a request", error));
  }

  /** Shows that a job waits for a time, not for a person. */
  showWaiting(job: Job): void {
    this.queueOfJob(job.id)?.showWaiting(job);
  }

  /** Continues messages that an earlier fleet process left unanswered. */
  private async resumeOpenMessages(): Promise<void> {
    const { agent, platform } = this.deps;
    for (const message of await this.context.store.listOpenMessages()) {
      if (message.agent === agent.name && message.platform === platform) this.enqueue(message);
    }
  }

  /** Processes messages in order: a `/stop` must not overtake the message that it stops. */
  private async receive(incoming: IncomingMessage): Promise<void> {
    const command = await this.recording.runExclusive(() => this.recordMessage(incoming));
    if (!command) return;
    const { id, room, sender } = incoming;
    const respond = async (text: string) => void (await this.deps.connector.post(room, { text }));
    await this.command({ ...command, id, room, sender, respond });
  }

  /** Records a message before anything else, and only once. Returns a command to run. */
  private async recordMessage(incoming: IncomingMessage): Promise<WantedCommand | undefined> {
    if (this.closeAbort.signal.aborted) return undefined;
    const classified = classifyMessage(this.rules, incoming);
    const isCommandText = classified.kind === "command";
    const answers = isCommandText
      ? undefined
      : await this.findAnsweredApproval(incoming, classified);
    if (classified.kind === "ignored" && answers === undefined) return undefined;
    const wants_context = classified.kind === "answer" && classified.withContext;
    const newMessage = { ...this.toNewMessage(incoming), wants_context, answers: answers ?? null };
    const status = isCommandText ? ("answered" as const) : ("waiting" as const);
    failPoint("message received");
    const { store, signal } = this.context;
    const { message, created } = await retryWhileStoreUnavailable(
      () => store.recordMessage(newMessage, status),
      signal,
    );
    failPoint("message taken");
    if (!created) return undefined;
    if (isCommandText) return classified;
    this.enqueue(message);
    return undefined;
  }

  /** The id of the question that this message answers. */
  private async findAnsweredApproval(
    incoming: IncomingMessage,
    classified: MessageClass,
  ): Promise<string | undefined> {
    const messages = [...this.queues.values()].flatMap(
      ({ currentMessage }) => currentMessage ?? [],
    );
    const approval = await findAnsweredQuestion(this.context, incoming, {
      activeMessages: messages,
      isAddressed: classified.kind === "answer",
    });
    return approval?.id;
  }

  private toNewMessage(incoming: IncomingMessage) {
    const { id, room, sender, text, attachments, sentAt, repliedText } = incoming;
    const { agent, platform } = this.deps;
    return {
      agent: agent.name,
      platform,
      room,
      conversation_key: conversationKey(agent.name, platform, room),
      message_id: id,
      sender: { id: sender.id, name: sender.name },
      text,
      attachments,
      continues: (repliedText && findJobId(repliedText)) ?? null,
      sent_at: sentAt.toISOString(),
    };
  }

  private enqueue(message: ChatMessage): void {
    if (message.answers !== null) {
      const onError = (error: unknown) => this.reportError("Failed to apply an answer", error);
      return void applyTypedAnswer(this.context, message).catch(onError);
    }
    const { conversation_id: id } = message;
    const queue =
      this.queues.get(id) ?? new ConversationQueue(this.context, () => this.updatePresence());
    this.queues.set(id, queue);
    queue.push(message);
    this.updatePresence();
  }

  /** Shows people whether the agent is working. */
  private updatePresence(): void {
    for (const [id, queue] of this.queues) if (queue.isIdle) this.queues.delete(id);
    if (this.closeAbort.signal.aborted) return;
    this.deps.connector.setPresence(this.queues.size > 0).catch(() => undefined);
  }

  private async postBesideAnswer(
    jobId: string,
    subject: string,
    post: OutgoingPost,
  ): Promise<void> {
    await this.queueOfJob(jobId)?.post(subject, post);
  }

  private queueOfJob(jobId: string): ConversationQueue | undefined {
    return [...this.queues.values()].find(({ currentMessage }) => currentMessage?.job_id === jobId);
  }

  private async command(command: IncomingCommand): Promise<void> {
    const { id, name, argument, room, sender, respond } = command;
    const speakerCheck = checkSpeaker(this.rules, room, sender);
    if (!speakerCheck.isAllowed) return respond("You are not allowed to use this agent.");
    if (!isCommand(name)) return respond("Unknown command. `/help` lists all commands.");
    const { agent, platform } = this.deps;
    const key = conversationKey(agent.name, platform, room);
    const conversation = await this.context.store.findConversationByKey(key);
    const queue = conversation && this.queues.get(conversation.id);
    await respond(await runCommand(this.context, name, { id, argument, room, sender, queue }));
  }

  private reportError(message: string, cause?: unknown): void {
    const { agent, platform, fleet } = this.deps;
    if (cause instanceof ChatError) this.listening.setProblem(errorText(cause));
    fleet.reportError(`${agent.name} in ${platform}: ${message}`, cause);
  }
}
