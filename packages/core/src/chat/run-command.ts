import { UserError } from "../errors/user-error.ts";
import type { Room } from "../state/chat.ts";
import { isFinished } from "../state/job-status.ts";
import { dayOf } from "../triggers/schedule/day.ts";
import { chatActor } from "./chat-actor.ts";
import { type ChatCommand, chatCommands } from "./commands.ts";
import { conversationKey } from "./conversation.ts";
import type { ConversationLine } from "./conversation-line.ts";
import type { LinkContext } from "./link-context.ts";

export interface CommandCall {
  /** The same for the same command, however often it comes. */
  id: string;
  argument: string;
  room: Room;
  sender: { id: string; name: string };
  /** The line of the room's conversation, if something is under way there. */
  line: ConversationLine | undefined;
}

/** Carries out a command and gives the answer. */
export async function runCommand(
  context: LinkContext,
  name: ChatCommand,
  call: CommandCall,
): Promise<string> {
  try {
    return await doers[name](context, call);
  } catch (error) {
    if (error instanceof UserError) return `⚠️ ${error.message}\n${error.hint}`;
    throw error;
  }
}

type Doer = (context: LinkContext, call: CommandCall) => Promise<string>;

const doers: Record<ChatCommand, Doer> = {
  async help() {
    return Object.entries(chatCommands)
      .map(([name, { summary, ...more }]) => {
        const argument = "argument" in more ? ` <${more.argument}>` : "";
        return `\`/${name}${argument}\` ${summary}`;
      })
      .join("\n");
  },

  async reset(context, call) {
    const conversation = await conversationOf(context, call);
    if (conversation) {
      const generation = conversation.generation + 1;
      await context.store.changeConversation(conversation.id, { session_id: null, generation });
      if (conversation.session_id) context.fleet.leaveSession(conversation.session_id);
    }
    return "This conversation begins anew.";
  },

  async status(context, call) {
    const { fleet, agent } = context;
    const live = (await fleet.state.jobs.snapshot()).filter((job) => job.agent === agent().name);
    const count = (status: string) => live.filter((job) => job.status === status).length;
    const here = call.line?.now?.job_id;
    const session = (await conversationOf(context, call))?.session_id;
    return [
      `**${agent().name}**: ${count("running")} running, ${count("waiting")} waiting, ${count("pending")} in the queue.`,
      here ? `Here it works on ${here}.` : "Here it is idle.",
      session ? `Session ${session}` : "No session yet.",
    ].join("\n");
  },

  async stop({ fleet, platform }, { line, sender }) {
    const dropped = (await line?.drop("stopped by a person")) ?? 0;
    // What was said a moment ago is about to begin.
    const jobId = await line?.jobNow();
    if (!jobId) return "Nothing is under way here.";
    await fleet.cancel(jobId, chatActor(platform, sender));
    const rest = dropped === 0 ? "" : ` ${dropped} waiting messages are dropped.`;
    return `Stopping ${jobId}.${rest}`;
  },

  async jobs({ fleet, agent }) {
    const { jobs } = await fleet.state.jobs.list({ agent: agent().name, limit: 5 });
    if (jobs.length === 0) return "There are none yet.";
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
      return "There is no such job of this agent, or it has no session.";
    }
    const { room } = call;
    const key = conversationKey(agent().name, platform, room);
    const conversation = await store.openConversation(key, { agent: agent().name, platform, room });
    const owner = await store.ofJob(job.id);
    if (owner && owner.conversation_id !== conversation.id) {
      return "That job belongs to another conversation.";
    }
    if (conversation.session_id) fleet.leaveSession(conversation.session_id);
    await store.changeConversation(conversation.id, {
      session_id: job.session_id,
      generation: conversation.generation + 1,
      last_used_at: new Date().toISOString(),
    });
    return `From here on this conversation goes on in the session of ${job.id}.`;
  },

  async run({ fleet, agent, platform }, { argument, id, sender }) {
    // One of the type chat is no run of its own; it goes before each message.
    const schedules = Object.entries(agent().schedules).flatMap(([name, { type }]) =>
      type === "chat" ? [] : [name],
    );
    if (!schedules.includes(argument)) {
      return `Which schedule? There is: ${schedules.join(", ") || "none"}.`;
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
    const [spent] = await fleet.state.budgets.costs(query);
    return `Today ${name} has cost $${(spent?.usd ?? 0).toFixed(4)}.`;
  },
};

async function conversationOf({ store, agent, platform }: LinkContext, { room }: CommandCall) {
  return store.conversationByKey(conversationKey(agent().name, platform, room));
}
