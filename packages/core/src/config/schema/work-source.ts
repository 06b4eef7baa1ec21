import { z } from "zod";
import { duration } from "./quantities.ts";
import { someText, url, variableName } from "./texts.ts";
import { block, fleetOnly } from "./trust.ts";
import { checkedText, Wrong } from "./wrong.ts";

const fleetFileOnly = <T extends z.ZodType>(schema: T) =>
  fleetOnly(schema, "the fleet uses its own token there");

const repository = checkedText((text) =>
  /^[\w.-]+\/[\w.-]+$/.test(text)
    ? undefined
    : new Wrong(`"${text}" is not a repository`, "Write `owner/name`."),
);

export const workSource = block({
  type: fleetFileOnly(z.literal("github")),
  repo: fleetFileOnly(repository.describe("Repository whose issues are worked on")),
  labels: fleetFileOnly(z.array(someText).min(1).describe("Labels an issue must have to be taken")),
  token_env: fleetFileOnly(
    variableName.prefault("GITHUB_TOKEN").describe("Variable that holds the token"),
  ),
  claimed_label: fleetFileOnly(
    someText.prefault("in-progress").describe("Label of a claimed issue"),
  ),
  on_success: fleetFileOnly(
    z.enum(["close", "label"]).prefault("close").describe("What a success does to the issue"),
  ),
  done_label: fleetFileOnly(someText.prefault("done").describe("Label for `on_success: label`")),
  failed_label: fleetFileOnly(
    someText
      .prefault("herdctl-failed")
      .describe("Label of an issue that was tried three times without success"),
  ),
  stale_after: fleetFileOnly(
    duration.prefault("24h").describe("A claim older than this is released"),
  ),
  base_url: fleetFileOnly(
    url("https", "http").prefault("https://api.github.com").describe("Address of the API"),
  ),
});
