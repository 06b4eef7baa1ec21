import { z } from "zod";
import { count } from "./quantities.ts";
import { someText, variableName } from "./texts.ts";
import {
  atMost,
  block,
  equal,
  free,
  granted,
  keeps,
  stricter,
  stricterThanFleet,
  subset,
} from "./trust.ts";
import { checkedText, Wrong } from "./wrong.ts";

const headerName = checkedText((text) =>
  /^[A-Za-z0-9-]+$/.test(text)
    ? undefined
    : new Wrong(`"${text}" is not the name of a header`, "Write it such as `X-Signature`."),
);

const signature = block({
  kind: stricterThanFleet(
    z.enum(["github", "standard", "slack", "hmac", "token"]).describe("How a delivery is signed"),
    equal,
  ),
  secret_env: granted(
    z
      .union([variableName, z.array(variableName).min(1).max(2)])
      .describe("Variable that holds the secret; two during a rotation"),
    "variable",
  ),
  header: stricterThanFleet(
    headerName
      .optional()
      .describe("Header of the signature, for `hmac`; of the token, else `Authorization: Bearer`"),
    equal,
  ),
  algorithm: stricterThanFleet(
    z.enum(["sha256", "sha512"]).prefault("sha256").describe("Digest, for `hmac`"),
    equal,
  ),
  id_header: stricterThanFleet(
    headerName
      .optional()
      .describe("Header that tells one delivery from another, for `hmac` and `token`"),
    equal,
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

const from = block({
  associations: stricter(
    z
      .array(z.enum(associations))
      .prefault(["OWNER", "MEMBER", "COLLABORATOR"])
      .describe("What somebody must be to the repository"),
    subset,
  ),
  logins: stricter(
    z.array(someText).prefault([]).describe("Who may trigger it besides, by login"),
    subset,
  ),
  anyone: stricter(
    z.boolean().prefault(false).describe("Strangers may trigger it too"),
    keeps(false),
  ),
});

const command = checkedText((text) =>
  /^\/\S+$/.test(text)
    ? undefined
    : new Wrong(`"${text}" is not a command`, "Write one word that begins with `/`: `/herd`."),
);

const wantedValue = z.union([z.array(z.coerce.string()).min(1), z.coerce.string()]);

export const webhookFields = {
  signature: free(signature.describe("How deliveries prove where they come from")),
  on: stricterThanFleet(
    z
      .union([someText, z.array(someText).min(1)])
      .optional()
      .describe("Events that count, such as `issues.labeled` or `issues`"),
    equal,
  ),
  filter: stricterThanFleet(
    z
      .record(z.string(), wantedValue)
      .optional()
      .describe("Fields of the payload and the values they must have"),
    equal,
  ),
  from: free(from.prefault({}).describe("Who may trigger it, with `github`")),
  command: stricterThanFleet(
    command
      .optional()
      .describe(
        "Only comments that begin with this word, with `github`; the rest is `{{command}}`",
      ),
    equal,
  ),
  rate_limit: stricter(
    count.prefault(600).describe("Deliveries a minute; more are told to come later"),
    atMost,
  ),
};
