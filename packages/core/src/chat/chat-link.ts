import { setTimeout as after } from "node:timers/promises";
import type { ResolvedAgent } from "../config/resolve.ts";
import { failPoint } from "../faults/fail-point.ts";
import type { Approval } from "../state/approval.ts";
import type { ChatMessage, Platform } from "../state/chat.ts";
import type { Job } from "../state/job.ts";
import type { ChatFleet } from "./chat-fleet.ts";
import { isCommand } from "./commands.ts";
import {
  ChatError,
  type ChatSettings,
  type Connector,
  type IncomingCommand,
  type IncomingMessage,
  type OutgoingPost,
} from "./connector.ts";
import { jobNamedIn } from "./continued-session.ts";
import { conversationKey } from "./conversation.ts";
import { ConversationLine } from "./conversation-line.ts";
import type { LinkContext } from "./link-context.ts";
import { listenRules } from "./listen-rules.ts";
import { Listening, wordsOf } from "./listening.ts";
import { maySpeak } from "./may-speak.ts";
import { untilKept } from "./persevere.ts";
import { Questions } from "./questions.ts";
import { runCommand } from "./run-command.ts";
import { giveTypedAnswer, questionAnswered } from "./typed-answers.ts";
import { type ListenRules, type Wanted, whatIsWanted } from "./what-is-wanted.ts";

export interface ChatLinkParts {
  fleet: ChatFleet;
  agent: ResolvedAgent;
  platform: Platform;
  connector: Connector;
  changed(): void;
}

export interface ChatLinkStatus {
  agent: string;
  platform: Platform;
  state: "connecting" | "connected" | "failed";
  problem: string | null;
  /** In how many rooms it answers right now. */
  working: number;
}

type WantedCommand = Extract<Wanted, { kind: "command" }>;

/** How long a platform may take to let us go. */
const farewell = 3_000;

/** One agent on one platform: takes what is said to it, and has it answered. */
export class ChatLink {
  private readonly closing = new AbortController();
  private readonly lines = new Map<string, ConversationLine>();
  private readonly context: LinkContext;
  private readonly rules: ListenRules;
  private readonly listening: Listening;
  private lastKept: Promise<unknown> = Promise.resolve();

  constructor(private readonly parts: ChatLinkParts) {
    const { fleet, agent, platform, connector, changed } = parts;
    const settings: NonNullable<ChatSettings[Platform]> | undefined = agent.chat?.[platform];
    const rules = agent.chat && listenRules(agent.chat, platform);
    if (!settings || !rules) throw new Error(`${agent.name} is not in ${platform}`);
    const { approvers } = settings;
    const put = (jobId: string, subject: string, post: OutgoingPost) =>
      this.beside(jobId, subject, post);
    this.rules = rules;
    this.context = {
      platform,
      settings,
      connector,
      fleet,
      store: fleet.state.chat,
      questions: new Questions({ fleet, agent: agent.name, platform, approvers, connector, put }),
      signal: this.closing.signal,
      agent: () => fleet.fleet().agents.find(({ name }) => name === agent.name) ?? agent,
      trouble: (message, cause) => this.tell(message, cause),
      well: () => this.listening.say(null),
    };
    this.listening = new Listening({
      agent: agent.name,
      platform,
      connector,
      store: fleet.state.chat,
      signal: this.closing.signal,
      take: (message) => this.take(message),
      command: (command) => this.command(command),
      press: (press) => this.context.questions.press(press),
      goOn: () => this.goOn(),
      changed,
      trouble: (message, cause) => this.tell(message, cause),
    });
  }

  get status(): ChatLinkStatus {
    const { agent, platform } = this.parts;
    const { state, problem } = this.listening;
    const working = [...this.lines.values()].filter(({ now }) => now !== undefined).length;
    return { agent: agent.name, platform, state, problem, working };
  }

  /** Lets what is being written be finished, for so long; the rest is left to the next fleet. */
  async close(patience: number): Promise<void> {
    const idle = () => Promise.all([...this.lines.values()].map((line) => line.idle()));
    if (patience > 0) await atMost(patience, idle());
    this.closing.abort();
    this.listening.stop();
    const stopped = this.parts.connector.stop().catch(() => undefined);
    // A platform that does not answer must not keep the fleet from ending.
    await atMost(farewell, Promise.all([stopped, this.listening.opening]));
    await idle();
  }

  /** A job asks something, or was answered; it is shown where the job came from. */
  asked(approval: Approval): void {
    this.context.questions
      .ask(approval)
      .catch((error) => this.tell("a question could not be shown", error));
  }

  /** A job has to wait for a time, not for a person. */
  waits(job: Job): void {
    this.lineOf(job.id)?.waits(job);
  }

  /** What an earlier fleet left unanswered. */
  private async goOn(): Promise<void> {
    const { agent, platform } = this.parts;
    for (const message of await this.context.store.open()) {
      if (message.agent === agent.name && message.platform === platform) this.put(message);
    }
  }

  /** One after the other, as they were said: a `/stop` must not overtake what it stops. */
  private async take(incoming: IncomingMessage): Promise<void> {
    const kept = this.lastKept.then(() => this.keep(incoming));
    this.lastKept = kept.catch(() => undefined);
    const command = await kept;
    if (!command) return;
    const { id, room, sender } = incoming;
    const respond = async (text: string) => void (await this.parts.connector.post(room, { text }));
    await this.command({ ...command, id, room, sender, respond });
  }

  /** On record before anything else; the same message is taken once. Returns a command to be done. */
  private async keep(incoming: IncomingMessage): Promise<WantedCommand | undefined> {
    if (this.closing.signal.aborted) return undefined;
    const wanted = whatIsWanted(this.rules, incoming);
    const isCommandText = wanted.kind === "command";
    const answers = isCommandText ? undefined : await this.question(incoming, wanted);
    if (wanted.kind === "ignored" && answers === undefined) return undefined;
    const wants_context = wanted.kind === "answer" && wanted.withContext;
    const given = { ...this.record(incoming), wants_context, answers: answers ?? null };
    const status = isCommandText ? ("answered" as const) : ("waiting" as const);
    failPoint("message heard");
    const { store, signal } = this.context;
    const { message, created } = await untilKept(() => store.take(given, status), signal);
    failPoint("message taken");
    if (!created) return undefined;
    if (isCommandText) return wanted;
    this.put(message);
    return undefined;
  }

  /** The question that a person answers with this, by its id. */
  private async question(incoming: IncomingMessage, wanted: Wanted): Promise<string | undefined> {
    const atWork = [...this.lines.values()].flatMap(({ now }) => now ?? []);
    const isHeard = wanted.kind === "answer";
    return (await questionAnswered(this.context, incoming, { atWork, isHeard }))?.id;
  }

  private record(incoming: IncomingMessage) {
    const { id, room, sender, text, attachments, sentAt, repliesTo } = incoming;
    const { agent, platform } = this.parts;
    return {
      agent: agent.name,
      platform,
      room,
      conversation_key: conversationKey(agent.name, platform, room),
      message_id: id,
      sender: { id: sender.id, name: sender.name },
      text,
      attachments,
      continues: (repliesTo && jobNamedIn(repliesTo)) ?? null,
      sent_at: sentAt.toISOString(),
    };
  }

  private put(message: ChatMessage): void {
    if (message.answers !== null) {
      const lost = (error: unknown) => this.tell("an answer could not be passed on", error);
      return void giveTypedAnswer(this.context, message).catch(lost);
    }
    const { conversation_id: id } = message;
    const line = this.lines.get(id) ?? new ConversationLine(this.context, () => this.show());
    this.lines.set(id, line);
    line.push(message);
    this.show();
  }

  /** People see whether the agent is at work. */
  private show(): void {
    for (const [id, line] of this.lines) if (line.isIdle) this.lines.delete(id);
    if (this.closing.signal.aborted) return;
    this.parts.connector.presence(this.lines.size > 0).catch(() => undefined);
  }

  private async beside(jobId: string, subject: string, post: OutgoingPost): Promise<void> {
    await this.lineOf(jobId)?.post(subject, post);
  }

  private lineOf(jobId: string): ConversationLine | undefined {
    return [...this.lines.values()].find(({ now }) => now?.job_id === jobId);
  }

  private async command(command: IncomingCommand): Promise<void> {
    const { id, name, argument, room, sender, respond } = command;
    const hearing = maySpeak(this.rules, room, sender);
    if (!hearing.heard) return respond("You may not tell this agent what to do.");
    if (!isCommand(name)) return respond("There is no such command; `/help` lists them.");
    const { agent, platform } = this.parts;
    const key = conversationKey(agent.name, platform, room);
    const conversation = await this.context.store.conversationByKey(key);
    const line = conversation && this.lines.get(conversation.id);
    await respond(await runCommand(this.context, name, { id, argument, room, sender, line }));
  }

  private tell(message: string, cause?: unknown): void {
    const { agent, platform, fleet } = this.parts;
    if (cause instanceof ChatError) this.listening.say(wordsOf(cause));
    fleet.trouble(`${agent.name} in ${platform}: ${message}`, cause);
  }
}

async function atMost(milliseconds: number, work: Promise<unknown>): Promise<void> {
  const over = new AbortController();
  await Promise.race([work, after(milliseconds, undefined, { signal: over.signal })]);
  over.abort();
}
