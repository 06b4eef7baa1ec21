import type { ChoiceMenu, OutgoingPost } from "@herdctl/core";
import { ButtonStyle, ComponentType, MessageFlags } from "discord.js";

/** A post in Discord's words. It rings nobody's bell, and no link in it is looked at. */
export function messageBody({ text, replyTo, buttons = [], menu }: OutgoingPost) {
  const pressed = buttons.map(({ label, value, style }) => ({
    type: ComponentType.Button,
    label,
    custom_id: value,
    style: style === "yes" ? ButtonStyle.Success : ButtonStyle.Danger,
  }));
  return {
    content: text,
    // A menu fills a row of its own.
    components: [menu ? [selectOf(menu)] : [], pressed]
      .filter((row) => row.length > 0)
      .map((components) => ({ type: ComponentType.ActionRow, components })),
    allowed_mentions: { parse: [], replied_user: false },
    flags: MessageFlags.SuppressEmbeds,
    ...(replyTo && { message_reference: { message_id: replyTo, fail_if_not_exists: false } }),
  };
}

function selectOf({ value, options, several }: ChoiceMenu) {
  return {
    type: ComponentType.StringSelect,
    custom_id: value,
    placeholder: several ? "Choose one or more" : "Choose one",
    min_values: 1,
    max_values: several ? options.length : 1,
    options: options.map(({ label, description }, place) => ({
      label,
      value: String(place),
      ...(description && { description }),
    })),
  };
}
