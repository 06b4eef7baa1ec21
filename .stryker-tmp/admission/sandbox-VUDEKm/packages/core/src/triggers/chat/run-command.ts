import { type ChatRoom, isFinished, UserError } from "@herdctl/protocol";
import { dayOf } from "../../lib/time-zone.ts";
import { chatActor } from "./chat-actor.ts";
import { type ChatCommand, chatCommands } from "./commands.ts";
import type { ConnectionContext } from "./connection-context.ts";
import { conversationKey } from "./conversation.ts";
import type { ConversationQueue } from "./conversation-queue.ts";

export interface CommandCall {
  /** The same for every delivery of the same command. */
  id: string;
  argument: string;
  room: ChatRoom;
  sender: { id: string; name: string };
  /** The queue of the room's conversation, if it is active. */
  queue: ConversationQueue | undefined;
}

/** Runs a command and returns the answer. */
export async function runCommand(
  context: ConnectionContext,
  name: ChatCommand,
  call: CommandCall,
): Promise<string> {
  try {
    return await commandHandlers[name](context, call);
  } catch (error) {
    if (error instanceof UserError) return `⚠️ ${error.message}\n${error.hint}`;
    throw error;
  }
}

type CommandHandler = (context: ConnectionContext, call: CommandCall) => Promise<string>;

const commandHandlers: Record<ChatCommand, CommandHandler> = {
  async help() {
    return Object.entries(chatCommands)
      .map(([name, { summary, ...more }]) => {
        const argument = "argument" in more ? ` <${more.argument}>` : "";
        return `\`/${name}${argument}\` ${summary}`;
      })
      .join("\n");
  },

  async reset(context, call) {
    const conversation = await findConversation(context, call);
    if (conversation) {
      const generation = conversation.generation + 1;
      await context.store.updateConversation(conversation.id, { session_id: null, generation });
      if (conversation.session_id) context.fleet.releaseSession(conversation.session_id);
    }
    return "This conversation starts over.";
  },

  async status(context, call) {
    const { fleet, agent } = context;
    const live = (await fleet.state.jobs.listLive()).filter((job) => job.agent === agent().name);
    const count = (status: string) => live.filter((job) => job.status === status).length;
    const here = call.queue?.currentMessage?.job_id;
    const session = (await findConversation(context, call))?.session_id;
    return [
      `**${agent().name}**: ${count("running")} running, ${count("waiting")} waiting, ${count("pending")} in the queue.`,
      here ? `Working on ${here} here.` : "Idle here.",
      session ? `Session ${session}` : "No session yet.",
    ].join("\n");
  },

  async stop({ fleet, platform }, { queue, sender }) {
    const dropped = (await queue?.dropWaiting("stopped by a person")) ?? 0;
    // The last message may be about to start a job.
    const jobId = await queue?.currentJobId();
    if (!jobId) return "No job is running here.";
    await fleet.cancelJob(jobId, chatActor(platform, sender));
    const rest = dropped === 0 ? "" : ` Dropped ${dropped} waiting messages.`;
    return `Stopping ${jobId}.${rest}`;
  },

  async jobs({ fleet, agent }) {
    const { jobs } = await fleet.state.jobs.list({ agent: agent().name, limit: 5 });
    if (jobs.length === 0) return "There are no jobs yet.";
    return jobs
      .map(({ id, trigger_type, status, outcome }) => {
        const state = isFinished(status) ? (outcome?.code ?? status) : status;
        return `\`${id}\` ${trigger_type}: ${state}`;
      })
      .join("\n");
  },

  async resume(context, call) {
    const { fleet, store, agent, platform } = context;
    if (call.argument === "") return "Which job? `/jobs` lists the last ones.";
    const job = await fleet.state.jobs.get(call.argument);
    if (!job || job.agent !== agent().name || job.session_id === null) {
      return "This agent has no such job, or the job has no session.";
    }
    const { room } = call;
    const key = conversationKey(agent().name, platform, room);
    const conversation = await store.getOrCreateConversation(key, {
      agent: agent().name,
      platform,
      room,
    });
    const owner = await store.findMessageByJob(job.id);
    if (owner && owner.conversation_id !== conversation.id) {
      return "That job belongs to another conversation.";
    }
    if (conversation.session_id) fleet.releaseSession(conversation.session_id);
    await store.updateConversation(conversation.id, {
      session_id: job.session_id,
      generation: conversation.generation + 1,
      last_used_at: new Date().toISOString(),
    });
    return `This conversation now continues in the session of ${job.id}.`;
  },

  async run({ fleet, agent, platform }, { argument, id, sender }) {
    // A schedule of type `chat` cannot be run alone; it applies to each message.
    const schedules = Object.entries(agent().schedules).flatMap(([name, { type }]) =>
      type === "chat" ? [] : [name],
    );
    if (!schedules.includes(argument)) {
      return `Which schedule? Available: ${schedules.join(", ") || "none"}.`;
    }
    const key = `chat-command/${platform}/${agent().name}/${id}`;
    const request = { trigger: "manual" as const, agent: agent().name, schedule: argument, key };
    const { job } = await fleet.trigger(request, chatActor(platform, sender));
    return job.status === "skipped"
      ? `Not run: ${job.outcome?.message ?? "it was skipped"}`
      : `Started ${job.id}.`;
  },

  async cost({ fleet, agent }) {
    const { name } = agent();
    const { name: day } = dayOf(new Date(), fleet.fleet().fleet.timezone);
    const query = { by: "agent", since: day, until: day, agent: name } as const;
    const [spent] = await fleet.state.budgets.listCosts(query);
    return `${name} has cost $${(spent?.usd ?? 0).toFixed(4)} today.`;
  },
};

async function findConversation(
  { store, agent, platform }: ConnectionContext,
  { room }: CommandCall,
) {
  return store.findConversationByKey(conversationKey(agent().name, platform, room));
}
