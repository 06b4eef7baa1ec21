import type { ChoiceMenu, OutgoingPost } from "@herdctl/core";
import type { KnownBlock, PlainTextOption } from "@slack/web-api";
import { mrkdwn } from "./mrkdwn.ts";

type Button = NonNullable<OutgoingPost["buttons"]>[number];

/** Characters of a text that has buttons or a menu below it. */
export const maxSectionLength = 3_000;

/** The button below a menu of several; what is chosen counts when it is pressed. */
export const sendMark = ":send";

/** A post in Slack's words. No link in it is looked at, for an address can carry a secret out. */
export function messageBody({ text, buttons = [], menu }: OutgoingPost) {
  const shown = mrkdwn(text);
  const section: KnownBlock = { type: "section", text: { type: "mrkdwn", text: shown } };
  const single = menu && !menu.several ? [singleOf(menu)] : [];
  const send = menu?.several ? [sendButton(menu)] : [];
  const elements = [...single, ...send, ...buttons.map(buttonOf)];
  const several: KnownBlock[] = menu?.several ? [severalOf(menu)] : [];
  const blocks: KnownBlock[] = [section, ...several, { type: "actions", elements }];
  return { text: shown, blocks: elements.length === 0 ? [] : blocks };
}

function buttonOf({ label, value, style }: Button) {
  return {
    type: "button" as const,
    action_id: value,
    value,
    text: plainText(label),
    style: style === "yes" ? ("primary" as const) : ("danger" as const),
  };
}

function singleOf(menu: ChoiceMenu) {
  const placeholder = plainText("Choose one");
  const options = menu.options.map(optionOf);
  return { type: "static_select" as const, action_id: menu.value, placeholder, options };
}

/** Slack has no such menu among buttons, only beside a text. */
function severalOf(menu: ChoiceMenu): KnownBlock {
  return {
    type: "section",
    block_id: menu.value,
    text: plainText("Choose one or more, then send:"),
    accessory: {
      type: "multi_static_select",
      action_id: menu.value,
      placeholder: plainText("Choose"),
      options: menu.options.map(optionOf),
    },
  };
}

function sendButton({ value }: ChoiceMenu) {
  return buttonOf({ label: "Send", value: `${value}${sendMark}`, style: "yes" });
}

function optionOf(
  { label, description }: ChoiceMenu["options"][number],
  place: number,
): PlainTextOption {
  return {
    text: plainText(label),
    value: String(place),
    ...(description && { description: plainText(description) }),
  };
}

function plainText(text: string) {
  return { type: "plain_text" as const, text };
}
