import type { OutgoingPost } from "@herdctl/core";
import type { KnownBlock } from "@slack/web-api";
import { mrkdwn } from "./mrkdwn.ts";

/** A post in Slack's words. No link in it is looked at, for an address can carry a secret out. */
export function messageBody({ text, buttons = [] }: OutgoingPost) {
  const shown = mrkdwn(text);
  const blocks: KnownBlock[] = [
    { type: "section", text: { type: "mrkdwn", text: shown } },
    {
      type: "actions",
      elements: buttons.map(({ label, value, style }) => ({
        type: "button",
        action_id: value,
        value,
        text: { type: "plain_text", text: label },
        style: style === "yes" ? "primary" : "danger",
      })),
    },
  ];
  return { text: shown, blocks: buttons.length === 0 ? [] : blocks };
}
