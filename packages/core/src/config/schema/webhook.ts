import { z } from "zod";
import { count } from "./quantities.ts";
import { someText, variableName } from "./texts.ts";
import { checkedText, Wrong } from "./wrong.ts";

const headerName = checkedText((text) =>
  /^[A-Za-z0-9-]+$/.test(text)
    ? undefined
    : new Wrong(`"${text}" is not the name of a header`, "Write it such as `X-Signature`."),
);

const signature = z.strictObject({
  kind: z
    .enum(["github", "standard", "slack", "hmac", "token"])
    .describe("How a delivery is signed"),
  secret_env: z
    .union([variableName, z.array(variableName).min(1).max(2)])
    .describe("Variable that holds the secret; two during a rotation"),
  header: headerName
    .optional()
    .describe("Header of the signature, for `hmac`; of the token, else `Authorization: Bearer`"),
  algorithm: z.enum(["sha256", "sha512"]).prefault("sha256").describe("Digest, for `hmac`"),
  id_header: headerName
    .optional()
    .describe("Header that tells one delivery from another, for `hmac` and `token`"),
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

const from = z.strictObject({
  associations: z
    .array(z.enum(associations))
    .prefault(["OWNER", "MEMBER", "COLLABORATOR"])
    .describe("What somebody must be to the repository"),
  logins: z.array(someText).prefault([]).describe("Who may trigger it besides, by login"),
  anyone: z.boolean().prefault(false).describe("Strangers may trigger it too"),
});

const command = checkedText((text) =>
  /^\/\S+$/.test(text)
    ? undefined
    : new Wrong(`"${text}" is not a command`, "Write one word that begins with `/`: `/herd`."),
);

const wantedValue = z.union([z.array(z.coerce.string()).min(1), z.coerce.string()]);

export const webhookFields = {
  signature: signature.describe("How deliveries prove where they come from"),
  on: z
    .union([someText, z.array(someText).min(1)])
    .optional()
    .describe("Events that count, such as `issues.labeled` or `issues`"),
  filter: z
    .record(z.string(), wantedValue)
    .optional()
    .describe("Fields of the payload and the values they must have"),
  from: from.prefault({}).describe("Who may trigger it, with `github`"),
  command: command
    .optional()
    .describe("Only comments that begin with this word, with `github`; the rest is `{{command}}`"),
  rate_limit: count.prefault(600).describe("Deliveries a minute; more are told to come later"),
};
