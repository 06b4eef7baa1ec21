import type { ResolvedAgent } from "../config/resolve.ts";
import type { Approval } from "../state/approval.ts";
import type { ChatMessage, Platform } from "../state/chat.ts";
import type { ChatFleet } from "./chat-fleet.ts";
import { isCommand } from "./commands.ts";
import {
  type ButtonPress,
  ChatError,
  type ChatSettings,
  type Connector,
  type IncomingCommand,
  type IncomingMessage,
} from "./connector.ts";
import { conversationKey } from "./conversation.ts";
import { ConversationLine } from "./conversation-line.ts";
import type { LinkContext } from "./link-context.ts";
import { listenRules } from "./listen-rules.ts";
import { maySpeak } from "./may-speak.ts";
import { persevere } from "./persevere.ts";
import { Questions } from "./questions.ts";
import { runCommand } from "./run-command.ts";
import { type ListenRules, whatIsWanted } from "./what-is-wanted.ts";

export interface ChatLinkParts {
  fleet: ChatFleet;
  agent: ResolvedAgent;
  platform: Platform;
  connector: Connector;
}

/** Events may overtake each other a little; what was seen already is known by its id. */
const margin = 5 * 60_000;
const longestAway = 24 * 3_600_000;
const mostRooms = 100;

/** One agent on one platform: hears what is said to it, and has it answered. */
export class ChatLink {
  state: "connecting" | "connected" | "failed" = "connecting";
  problem: string | null = null;
  private readonly closing = new AbortController();
  private readonly lines = new Map<string, ConversationLine>();
  private readonly context: LinkContext;
  private readonly rules: ListenRules;
  private readonly opening: Promise<void>;
  /** What comes before all that was missed has been taken waits for it. */
  private caughtUp: Promise<void> = Promise.resolve();

  constructor(private readonly parts: ChatLinkParts) {
    const { fleet, agent, platform, connector } = parts;
    const settings: NonNullable<ChatSettings[Platform]> | undefined = agent.chat?.[platform];
    const rules = agent.chat && listenRules(agent.chat, platform);
    if (!settings || !rules) throw new Error(`${agent.name} is not in ${platform}`);
    this.rules = rules;
    const put: ConstructorParameters<typeof Questions>[0]["put"] = async (jobId, subject, post) => {
      const line = [...this.lines.values()].find(({ now }) => now?.job_id === jobId);
      await line?.post(subject, post);
      return line !== undefined;
    };
    this.context = {
      platform,
      settings,
      connector,
      fleet,
      store: fleet.state.chat,
      questions: new Questions({
        fleet,
        agent: agent.name,
        platform,
        approvers: settings.approvers,
        put,
      }),
      signal: this.closing.signal,
      agent: () => fleet.fleet().agents.find(({ name }) => name === agent.name) ?? agent,
      trouble: (message, cause) => this.tell(message, cause),
      well: () => {
        this.problem = null;
      },
    };
    this.opening = this.open().catch((error) => this.fail(error));
  }

  get name(): { agent: string; platform: Platform } {
    return { agent: this.parts.agent.name, platform: this.parts.platform };
  }

  get working(): number {
    return [...this.lines.values()].filter(({ now }) => now !== undefined).length;
  }

  /** Lets what is being written be finished, for so long; the rest is left to the next fleet. */
  async close(patience: number): Promise<void> {
    const all = Promise.all([...this.lines.values()].map((line) => line.idle()));
    const timer = new Promise((done) => setTimeout(done, patience).unref());
    if (patience > 0) await Promise.race([all, timer]);
    this.closing.abort();
    await this.parts.connector.stop().catch(() => undefined);
    await this.opening;
    await Promise.all([...this.lines.values()].map((line) => line.idle()));
  }

  /** A job asks something; it is shown where the job came from. */
  asked(approval: Approval): void {
    this.context.questions
      .ask(approval)
      .catch((error) => this.context.trouble("a question could not be shown", error));
  }

  private async open(): Promise<void> {
    const since = await this.heardUntil();
    let release: () => void = () => undefined;
    this.caughtUp = new Promise((done) => {
      release = done;
    });
    try {
      await persevere(() => this.connect(), this.closing.signal);
      this.state = "connected";
      await this.goOn();
      await this.catchUp(since);
    } finally {
      release();
    }
  }

  private async heardUntil(): Promise<Date> {
    const { agent, platform } = this.parts;
    const heard = await this.context.store.heardUntil(agent.name, platform);
    return new Date(Math.max(heard.getTime() - margin, Date.now() - longestAway));
  }

  private async lookBack(): Promise<void> {
    await this.caughtUp;
    await this.catchUp(await this.heardUntil());
  }

  private connect(): Promise<void> {
    return this.parts.connector.start({
      message: async (message) => {
        await this.caughtUp;
        await this.take(message);
      },
      command: (command) => this.command(command),
      press: (press) => this.press(press),
      problem: (message) => {
        this.problem = message ?? null;
      },
      reconnected: () => void this.lookBack(),
    });
  }

  /** What an earlier fleet left unanswered. */
  private async goOn(): Promise<void> {
    const { agent, platform } = this.parts;
    for (const message of await this.context.store.open()) {
      if (message.agent === agent.name && message.platform === platform) this.put(message);
    }
  }

  private async catchUp(since: Date): Promise<void> {
    const { connector, agent, platform } = this.parts;
    const known = (await this.context.store.conversations())
      .filter((one) => one.agent === agent.name && one.platform === platform)
      .slice(0, mostRooms);
    const rooms = known.map(({ room }) => room);
    const missed = await connector.missed(since, rooms).catch((error): IncomingMessage[] => {
      this.context.trouble("what was said meanwhile could not be read", error);
      return [];
    });
    for (const message of missed) await this.take(message);
  }

  /** On record before anything else; the same message is taken once. */
  private async take(incoming: IncomingMessage): Promise<void> {
    const wanted = whatIsWanted(this.rules, incoming);
    if (wanted.kind === "ignored" || this.closing.signal.aborted) return;
    const { store } = this.context;
    const isCommandText = wanted.kind === "command";
    const given = this.record(incoming, wanted.kind === "answer" && wanted.withContext);
    const { message, created } = await store.take(given, isCommandText ? "answered" : "waiting");
    if (!created) return;
    if (wanted.kind === "answer") return this.put(message);
    const { id, room, sender } = incoming;
    const respond = async (text: string) => void (await this.parts.connector.post(room, { text }));
    await this.command({ ...wanted, id, room, sender, respond });
  }

  private record(
    { id, room, sender, text, attachments, sentAt }: IncomingMessage,
    context: boolean,
  ) {
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
      wants_context: context,
      sent_at: sentAt.toISOString(),
    };
  }

  private put(message: ChatMessage): void {
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

  private async command(command: IncomingCommand): Promise<void> {
    const { id, name, argument, room, sender, respond } = command;
    const hearing = maySpeak(this.rules, room, sender);
    if (!hearing.heard) return respond("You may not tell this agent what to do.");
    if (!isCommand(name)) return respond("There is no such command; `/help` lists them.");
    const { agent, platform } = this.parts;
    const key = conversationKey(agent.name, platform, room);
    const conversation = await this.context.store.conversationByKey(key);
    const line = conversation && this.lines.get(conversation.id);
    await respond(await runCommand(this.context, name, { id, argument, room, line }));
  }

  private async press(press: ButtonPress): Promise<void> {
    await this.context.questions.press(press);
  }

  private tell(message: string, cause?: unknown): void {
    const { agent, platform } = this.name;
    if (cause instanceof ChatError) this.problem = `${cause.message} ${cause.hint}`;
    this.parts.fleet.trouble(`${agent} in ${platform}: ${message}`, cause);
  }

  private fail(error: unknown): void {
    if (this.closing.signal.aborted) return;
    this.state = "failed";
    const hint = error instanceof ChatError ? ` ${error.hint}` : "";
    this.problem = `${error instanceof Error ? error.message : String(error)}${hint}`;
    this.context.trouble(this.problem, error);
    const { agent, platform } = this.name;
    this.parts.fleet.problem(`${agent} in ${platform}: ${this.problem}`);
  }
}
