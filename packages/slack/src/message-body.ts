import type { ChoiceMenu, OutgoingPost } from "@herdctl/core";
import type { KnownBlock, PlainTextOption } from "@slack/web-api";
import { toMrkdwn } from "./mrkdwn.ts";

type Button = NonNullable<OutgoingPost["buttons"]>[number];

/** Maximum length of a text with buttons or a menu. */
export const maxSectionLength = 3_000;

/** Marks the Send button of a multiple-choice menu. */
export const sendSuffix = ":send";

/** Converts a post to a Slack message. */
export function toMessageBody({ text, buttons = [], menu }: OutgoingPost) {
  const mrkdwnText = toMrkdwn(text);
  const section: KnownBlock = { type: "section", text: { type: "mrkdwn", text: mrkdwnText } };
  const single = menu && !menu.allowsMultiple ? [toSingleSelect(menu)] : [];
  const send = menu?.allowsMultiple ? [sendButton(menu)] : [];
  const elements = [...single, ...send, ...buttons.map(toButton)];
  const multiple: KnownBlock[] = menu?.allowsMultiple ? [toMultiSelect(menu)] : [];
  const blocks: KnownBlock[] = [section, ...multiple, { type: "actions", elements }];
  return { text: mrkdwnText, blocks: elements.length === 0 ? [] : blocks };
}

function toButton({ label, value, style }: Button) {
  return {
    type: "button" as const,
    action_id: value,
    value,
    text: plainText(label),
    style: style === "yes" ? ("primary" as const) : ("danger" as const),
  };
}

function toSingleSelect(menu: ChoiceMenu) {
  const placeholder = plainText("Choose one");
  const options = menu.options.map(toOption);
  return { type: "static_select" as const, action_id: menu.value, placeholder, options };
}

/** Slack allows multiple-choice menus only next to a text, not among buttons. */
function toMultiSelect(menu: ChoiceMenu): KnownBlock {
  return {
    type: "section",
    block_id: menu.value,
    text: plainText("Choose one or more, then send:"),
    accessory: {
      type: "multi_static_select",
      action_id: menu.value,
      placeholder: plainText("Choose"),
      options: menu.options.map(toOption),
    },
  };
}

function sendButton({ value }: ChoiceMenu) {
  return toButton({ label: "Send", value: `${value}${sendSuffix}`, style: "yes" });
}

function toOption(
  { label, description }: ChoiceMenu["options"][number],
  index: number,
): PlainTextOption {
  return {
    text: plainText(label),
    value: String(index),
    ...(description && { description: plainText(description) }),
  };
}

function plainText(text: string) {
  return { type: "plain_text" as const, text };
}
