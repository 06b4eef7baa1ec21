import type { ChatPlatformName } from "@herdctl/protocol";
import { type Actor, identities } from "../../store/model/identity.ts";

/** The person who wrote or pressed something, by the id that the platform confirms. */
export function chatActor(platform: ChatPlatformName, sender: { id: string; name: string }): Actor {
  return { identity: identities.chat(platform, sender), origin: platform };
}
