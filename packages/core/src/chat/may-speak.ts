import type { Room } from "../state/chat.ts";
import type { Speaker } from "./connector.ts";

/** What the configuration says of who is heard where; `*` in a list stands for everybody. */
export interface SpeakRules {
  /** Servers or workspaces; any when none is named. */
  workspaces: string[];
  users: string[];
  roles: string[];
  /** Who may write directly. */
  direct: string[];
  /** Any when none is named. */
  channels: string[];
}

export type Hearing = { heard: true } | { heard: false; why: string };

/** The sender is looked at, not the room: whoever got into a channel is not heard for that. */
export function maySpeak(rules: SpeakRules, room: Room, sender: Speaker): Hearing {
  if (sender.isBot) return no("it comes from a program");
  if (room.direct) {
    return includes(rules.direct, sender.id) ? yes : no("the sender may not write directly");
  }
  const { workspace } = room;
  if (rules.workspaces.length > 0 && !(workspace && rules.workspaces.includes(workspace))) {
    return no("the server or workspace is not listed");
  }
  const here = [room.channel, room.thread ?? room.channel];
  if (rules.channels.length > 0 && !here.some((one) => rules.channels.includes(one))) {
    return no("the channel is not listed");
  }
  const hasRole = sender.roles.some((role) => rules.roles.includes(role));
  return hasRole || includes(rules.users, sender.id) ? yes : no("the sender is not listed");
}

const yes: Hearing = { heard: true };

function no(why: string): Hearing {
  return { heard: false, why };
}

function includes(list: string[], id: string): boolean {
  return list.includes("*") || list.includes(id);
}
