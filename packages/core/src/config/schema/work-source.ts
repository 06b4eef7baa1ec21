import { z } from "zod";
import { duration } from "./quantities.ts";
import { someText, url, variableName } from "./texts.ts";
import { checkedText, Wrong } from "./wrong.ts";

const repository = checkedText((text) =>
  /^[\w.-]+\/[\w.-]+$/.test(text)
    ? undefined
    : new Wrong(`"${text}" is not a repository`, "Write `owner/name`."),
);

export const workSource = z.strictObject({
  type: z.literal("github"),
  repo: repository.describe("Repository whose issues are worked on"),
  labels: z.array(someText).min(1).describe("Labels an issue must have to be taken"),
  token_env: variableName.prefault("GITHUB_TOKEN").describe("Variable that holds the token"),
  claimed_label: someText.prefault("in-progress").describe("Label of a claimed issue"),
  on_success: z
    .enum(["close", "label"])
    .prefault("close")
    .describe("What a success does to the issue"),
  done_label: someText.prefault("done").describe("Label for `on_success: label`"),
  failed_label: someText
    .prefault("herdctl-failed")
    .describe("Label of an issue that was tried three times without success"),
  stale_after: duration.prefault("24h").describe("A claim older than this is released"),
  base_url: url("https", "http").prefault("https://api.github.com").describe("Address of the API"),
});
