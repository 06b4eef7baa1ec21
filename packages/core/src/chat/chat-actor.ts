import type { Platform } from "../state/chat.ts";
import { type Actor, identities } from "../state/identity.ts";

/** Someone who wrote or pressed something, by the id that the platform vouches for. */
export function chatActor(platform: Platform, sender: { id: string; name: string }): Actor {
  return { identity: identities.chat(platform, sender), origin: platform };
}
