import { z } from "zod";
import { checkedText, InvalidValue } from "./codec.ts";
import { count } from "./quantities.ts";
import { nonEmptyText, scalarText, variableName } from "./strings.ts";
import {
  block,
  free,
  granted,
  isAtMost,
  isEqual,
  isSubset,
  keepsValue,
  stricter,
  stricterThanFleet,
} from "./trust.ts";

const headerName = checkedText((text) =>
  /^[A-Za-z0-9-]+$/.test(text)
    ? undefined
    : new InvalidValue(`"${text}" is not a header name`, "Write a name such as `X-Signature`."),
);

const signature = block({
  kind: stricterThanFleet(
    z.enum(["github", "standard", "slack", "hmac", "token"]).describe("How deliveries are signed."),
    isEqual,
  ),
  secret_env: granted(
    z
      .union([variableName, z.array(variableName).min(1).max(2)])
      .describe("Environment variable with the secret; two variables during a rotation."),
    "variable",
  ),
  header: stricterThanFleet(
    headerName
      .optional()
      .describe(
        "Header with the signature (`hmac`) or the token (`token`). Default for `token`: `Authorization: Bearer`.",
      ),
    isEqual,
  ),
  algorithm: stricterThanFleet(
    z.enum(["sha256", "sha512"]).prefault("sha256").describe("Digest for `hmac`."),
    isEqual,
  ),
  id_header: stricterThanFleet(
    headerName.optional().describe("Header that identifies a delivery, for `hmac` and `token`."),
    isEqual,
  ),
});

const associations = [
  "OWNER",
  "MEMBER",
  "COLLABORATOR",
  "CONTRIBUTOR",
  "FIRST_TIME_CONTRIBUTOR",
  "FIRST_TIMER",
  "NONE",
] as const;

const allowedSenders = block({
  associations: stricter(
    z
      .array(z.enum(associations))
      .prefault(["OWNER", "MEMBER", "COLLABORATOR"])
      .describe("Associations with the repository that a sender may have."),
    isSubset,
  ),
  logins: stricter(
    z.array(nonEmptyText).prefault([]).describe("Logins that may trigger it as well."),
    isSubset,
  ),
  anyone: stricter(
    z.boolean().prefault(false).describe("Allow anyone to trigger it."),
    keepsValue(false),
  ),
});

const commentCommand = checkedText((text) =>
  /^\/\S+$/.test(text)
    ? undefined
    : new InvalidValue(
        `"${text}" is not a command`,
        "Write one word that begins with `/`: `/herd`.",
      ),
);

const filterValue = z.union([z.array(scalarText).min(1), scalarText]);

export const webhookFields = {
  signature: free(signature.describe("How the sender of a delivery is verified.")),
  events: stricterThanFleet(
    z
      .union([nonEmptyText, z.array(nonEmptyText).min(1)])
      .optional()
      .describe("Events to accept, such as `issues.labeled` or `issues`."),
    isEqual,
  ),
  filter: stricterThanFleet(
    z
      .record(z.string(), filterValue)
      .optional()
      .describe("Payload fields and the values they must have."),
    isEqual,
  ),
  allowed_senders: free(
    allowedSenders.prefault({}).describe("Senders who may trigger it; only for `kind: github`."),
  ),
  comment_command: stricterThanFleet(
    commentCommand
      .optional()
      .describe(
        "Accept only comments that start with this word; the rest is `{{command}}`. Only for `kind: github`.",
      ),
    isEqual,
  ),
  rate_limit: stricter(
    count
      .prefault(600)
      .describe("Maximum number of deliveries per minute; further ones get status 429."),
    isAtMost,
  ),
};
