import type { OutgoingPost } from "@herdctl/core";
import { ButtonStyle, ComponentType, MessageFlags } from "discord.js";

/** A post in Discord's words. It rings nobody's bell, and no link in it is looked at. */
export function messageBody({ text, replyTo, buttons = [] }: OutgoingPost) {
  const components = buttons.map(({ label, value, style }) => ({
    type: ComponentType.Button,
    label,
    custom_id: value,
    style: style === "yes" ? ButtonStyle.Success : ButtonStyle.Danger,
  }));
  return {
    content: text,
    components: components.length === 0 ? [] : [{ type: ComponentType.ActionRow, components }],
    allowed_mentions: { parse: [], replied_user: false },
    flags: MessageFlags.SuppressEmbeds,
    ...(replyTo && { message_reference: { message_id: replyTo, fail_if_not_exists: false } }),
  };
}
