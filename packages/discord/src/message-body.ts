import type { ChoiceMenu, OutgoingPost } from "@herdctl/core";
import { ButtonStyle, ComponentType, MessageFlags } from "discord.js";

/** Converts a post to a Discord message without pings and link previews. */
export function toMessageBody({ text, replyToId, buttons = [], menu }: OutgoingPost) {
  const buttonComponents = buttons.map(({ label, value, style }) => ({
    type: ComponentType.Button,
    label,
    custom_id: value,
    style: style === "yes" ? ButtonStyle.Success : ButtonStyle.Danger,
  }));
  return {
    content: text,
    // Discord allows no buttons in the row of a menu.
    components: [menu ? [toSelectMenu(menu)] : [], buttonComponents]
      .filter((row) => row.length > 0)
      .map((components) => ({ type: ComponentType.ActionRow, components })),
    allowed_mentions: { parse: [], replied_user: false },
    flags: MessageFlags.SuppressEmbeds,
    ...(replyToId && { message_reference: { message_id: replyToId, fail_if_not_exists: false } }),
  };
}

function toSelectMenu({ value, options, allowsMultiple }: ChoiceMenu) {
  return {
    type: ComponentType.StringSelect,
    custom_id: value,
    placeholder: allowsMultiple ? "Choose one or more" : "Choose one",
    min_values: 1,
    max_values: allowsMultiple ? options.length : 1,
    options: options.map(({ label, description }, index) => ({
      label,
      value: String(index),
      ...(description && { description }),
    })),
  };
}
